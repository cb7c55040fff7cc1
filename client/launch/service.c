/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon hands over its open window as it was up to 100 ms ago, and older where it is behind
 * with names: then closed windows wait for them, or the call takes some 700 ms, for so long it
 * waits for its own threads. So a small call is repeated until it is fast, and then there is a wait
 * before the profile is asked for. If that has far fewer samples than the CPU time of the command
 * makes, the rest may still be on its way, and it is asked for again.
 */
#include "client/launch/service.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "client/rpc/connection.h"
#include "client/rpc/daemon-api.h"
#include "client/term/text.h"
#include "common/profile/patterns.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"

#define QUIET_US     200000
#define SLOW_US      600000
#define MAX_TRIES    3
#define MIN_EXPECTED 20       /* samples: of fewer, chance may leave half */
#define SAY_US       2000000  /* what is waited for */
#define MAX_US       60000000 /* of waiting */
#define REST_US      10000000 /* of waiting for samples that are expected */
#define TIMEOUT_MS   10000    /* of a daemon that hangs, before the command begins */

static int get_status(const char *socket, json_t **ret, struct fault *fault)
{
	_cleanup_(connection_freep) struct connection *connection = NULL;
	int r = connection_open(&connection, socket, fault);

	if (r < 0)
		return r;
	connection_set_timeout(connection, TIMEOUT_MS);
	return daemon_api_get_status(connection, ret, fault);
}

static uint64_t number(const json_t *object, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(object, name));

	return value > 0 ? (uint64_t)value : 0;
}

/* Whether what it says of its sampling is of all processes, on all CPUs. */
static bool samples_all(const json_t *status, struct fault *why)
{
	const json_t *sampling = json_object_get(status, "sampling");
	const char *reason = json_string_value(json_object_get(sampling, "reason"));
	uint64_t n_cpus = number(sampling, "n_cpus");

	if (!json_is_true(json_object_get(sampling, "running")))
		fault_set(why, 0, "branchd samples nothing: %s", reason ?: "it does not say why");
	else if (n_cpus < (uint64_t)sysconf(_SC_NPROCESSORS_ONLN))
		fault_set(why, 0, "branchd samples %" PRIu64 " of %ld CPUs", n_cpus,
			  sysconf(_SC_NPROCESSORS_ONLN));
	else if (number(json_object_get(status, "samples"), "filtered") > 0)
		fault_set(why, 0, "branchd samples some users, units or processes only");
	else
		return true;
	return false;
}

/* The processes of the command are found by their numbers. */
static void keep_processes(struct service *service, const char *socket)
{
	struct fault ignored;

	if (connection_open(&service->keeping, socket, &ignored) < 0)
		return;
	connection_set_timeout(service->keeping, TIMEOUT_MS);
	if (daemon_api_keep_processes(service->keeping, &ignored) < 0)
		service_done(service);
}

bool service_ask(struct service *ret, const char *socket, struct fault *why)
{
	json_t *status = NULL;
	const json_t *sampling;
	bool usable;
	int r;

	*why = (struct fault){};
	r = get_status(socket, &status, why);
	if (r == -EACCES || r == -EPERM)
		fault_set(why, r, "%s: %s", socket, strerror(-r));
	if ((r == -ENOENT || r == -ECONNREFUSED) && strcmp(socket, CONNECTION_DEFAULT_PATH) == 0)
		*why = (struct fault){};
	else if (r == -ENOENT || r == -ECONNREFUSED)
		fault_set(why, r, "branchd is not running (%s: %s)", socket, strerror(-r));
	if (r < 0)
		return false;
	usable = samples_all(status, why);
	sampling = json_object_get(status, "sampling");
	*ret = (struct service){
		.frequency = number(sampling, "frequency"),
		.period = number(sampling, "period"),
		.started_us = number(status, "started_us"),
	};
	json_decref(status);
	if (usable)
		keep_processes(ret, socket);
	return usable;
}

void service_done(struct service *service)
{
	service->keeping = connection_free(service->keeping);
}

static void wait_us(uint64_t us)
{
	const struct timespec time = { (time_t)(us / 1000000), (long)(us % 1000000) * 1000 };

	nanosleep(&time, NULL);
}

/* Asks for the open window, whose part for the command is small. */
static int ask_for_part(struct connection *connection, const struct launch *launch,
			struct fault *fault)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	_cleanup_(windows_done) struct windows windows = {};
	char pid[16];
	const struct profile_filter filter = { .pid = pid };
	const struct daemon_api_request request = { .filter = &filter };

	snprintf(pid, sizeof(pid), "%d", (int)launch->pid);
	return daemon_api_get_profile(connection, &request, &profile, &windows, fault);
}

/* Whether the daemon has counted and named what it sampled until now. -errno and @fault. */
static int is_up_to_date(const struct profile_source_settings *settings,
			 const struct launch *launch, struct fault *fault)
{
	_cleanup_(connection_freep) struct connection *connection = NULL;
	json_t *status = NULL;
	uint64_t n_behind, asked_us;
	int r = connection_open(&connection, settings->socket, fault);

	if (r >= 0)
		r = daemon_api_get_status(connection, &status, fault);
	if (r < 0)
		return r;
	n_behind = number(json_object_get(status, "naming"), "behind");
	json_decref(status);
	if (n_behind > 0)
		return 0;
	asked_us = clock_us(CLOCK_MONOTONIC);
	r = ask_for_part(connection, launch, fault);
	return r < 0 ? r : clock_us(CLOCK_MONOTONIC) - asked_us < SLOW_US;
}

/* A window that closes between the list and the profile may be missing in it. */
static bool has_begin(const struct profile_source *source, const struct launch *launch)
{
	return source->windows.n > 0 && source->windows.rows[0].start_us <= launch->began_us;
}

static int open_source(struct profile_source **ret, const struct profile_source_settings *settings,
		       const struct launch *launch, struct fault *fault)
{
	struct profile_source_settings from = *settings;
	char pids[PATTERNS_MAX];
	int r = 0;

	from.since_us = launch->began_us;
	from.names_there = false;
	from.filter = (struct profile_filter){
		.pid = family_write_pids(launch->family, pids, sizeof(pids)) ? pids : NULL,
		.chosen = family_has,
		.chosen_of = launch->family,
	};
	for (int i = 0; i < MAX_TRIES && !(*ret && has_begin(*ret, launch)); i++) {
		wait_us(QUIET_US);
		*ret = profile_source_free(*ret);
		from.now_us = clock_us(CLOCK_REALTIME);
		r = profile_source_open(ret, &from, fault);
		if (r < 0)
			return r;
	}
	return r;
}

static int wait_for_daemon(struct service *service, const struct profile_source_settings *settings,
			   const struct launch *launch, struct fault *fault)
{
	uint64_t began_us = clock_us(CLOCK_MONOTONIC), passed_us = 0;
	bool said = false;
	int r = 0;

	while (r == 0 && passed_us < MAX_US) {
		r = is_up_to_date(settings, launch, fault);
		/* perhaps this user may have no more connections */
		if (r < 0 && service->keeping) {
			service_done(service);
			r = 0;
		}
		passed_us = clock_us(CLOCK_MONOTONIC) - began_us;
		if (r == 0 && !said && passed_us >= SAY_US) {
			text_say(stderr, "waiting for branchd, which is busy");
			said = true;
		}
		if (r == 0)
			wait_us(QUIET_US);
	}
	if (r == 0)
		text_say(stderr, "branchd is behind: what it sampled last may be missing here, see "
				 "branchctl status");
	return r;
}

/* Those are told apart by their program alone: once windows are merged, or if the daemon was not
 * asked to keep them apart. */
static bool has_gone(const struct profile *profile)
{
	for (size_t i = 0; i < profile->n_processes; i++)
		if (profile->processes[i].n_gone > 0)
			return true;
	return false;
}

uint64_t service_n_missing(uint64_t frequency, uint64_t cpu_us, uint64_t n)
{
	uint64_t n_expected = (uint64_t)((double)frequency * (double)cpu_us / 1e6);

	return n_expected >= MIN_EXPECTED && n < n_expected / 2 ? n_expected - n : 0;
}

static uint64_t n_missing(const struct service *service, const struct launch *launch,
			  const struct profile_source *source)
{
	return service_n_missing(service->frequency, launch->cpu_us, source->all->counters.samples);
}

/* Opens the source again while samples that are expected have not come. */
static int wait_for_samples(struct profile_source **source, const struct service *service,
			    const struct profile_source_settings *settings,
			    const struct launch *launch, struct fault *fault)
{
	uint64_t began_us = clock_us(CLOCK_MONOTONIC);
	bool said = false;
	int r = 0;

	while (r >= 0 && n_missing(service, launch, *source) > 0 && !has_gone((*source)->profile)) {
		uint64_t passed_us = clock_us(CLOCK_MONOTONIC) - began_us;

		if (passed_us >= REST_US)
			break;
		if (!said && passed_us >= SAY_US) {
			text_say(stderr, "waiting for branchd, which has few samples of it yet");
			said = true;
		}
		*source = profile_source_free(*source);
		r = open_source(source, settings, launch, fault);
	}
	return r;
}

static void say_missing(const struct service *service, const struct profile_source *source,
			const struct profile_source_settings *settings, const struct launch *launch)
{
	uint64_t n_lost = family_n_lost(launch->family), n = n_missing(service, launch, source);
	json_t *status = NULL;
	struct fault fault;

	if (get_status(settings->socket, &status, &fault) >= 0 &&
	    number(status, "started_us") != service->started_us)
		text_say(stderr, "branchd was restarted meanwhile: what it sampled of processes "
				 "that ran at that time is missing");
	json_decref(status);
	if (!family_is_exact(launch->family))
		text_say(stderr, "perf events are not permitted: processes that ended within some "
				 "milliseconds are missing, see kernel.perf_event_paranoid");
	if (n_lost > 0)
		text_say(stderr, "up to %" PRIu64 " processes of the command are missing", n_lost);
	if (has_gone(source->profile))
		text_say(stderr, "branchd counts some processes that ended by their names alone: "
				 "these are missing; see top --by process in branchctl(1)");
	if (n > 0)
		text_say(stderr,
			 "%" PRIu64 " samples are expected of its CPU time of %.1f s, branchd has "
			 "%" PRIu64 "; %s",
			 n + source->all->counters.samples, (double)launch->cpu_us / 1e6,
			 source->all->counters.samples,
			 geteuid() == 0 ? "branchctl status tells what was lost" :
					  "it shows no processes of other users, setuid programs "
					  "included");
}

int service_fetch(struct profile_source **ret, struct service *service,
		  const struct profile_source_settings *settings, const struct launch *launch,
		  struct fault *fault)
{
	_cleanup_(profile_source_freep) struct profile_source *source = NULL;
	struct fault why;
	int r = wait_for_daemon(service, settings, launch, &why);

	if (r >= 0)
		r = open_source(&source, settings, launch, &why);
	if (r >= 0)
		r = wait_for_samples(&source, service, settings, launch, &why);
	if (r < 0)
		return fault_set(fault, r, "what branchd sampled of it is lost here: %s", why.text);
	say_missing(service, source, settings, launch);
	source->by_process =
		false; /* the machine's samples are of whole windows, which began earlier */
	*ret = TAKE_PTR(source);
	return 0;
}
