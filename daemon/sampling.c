/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampling.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include "common/util/clock.h"
#include "daemon/events/client.h"
#include "daemon/log.h"
#include "daemon/naming/namer.h"
#include "daemon/rate-log.h"
#include "daemon/sampler/running-kernel.h"

#define MAX_QUEUED   8
#define RETRY_US     60000000
#define LEAST_HZ     19   /* the lowest rate that the budget leaves */
#define LEAST_PERIOD 1000 /* of an event that the budget makes rarer */

struct sampling {
	sd_event *event;
	struct archive *archive;
	struct helpers *helpers;    /* or NULL */
	struct kept_files *tables;  /* likewise */
	struct kept_files *symbols; /* likewise */
	void (*changed)(void *userdata);
	void *userdata;
	struct config config;
	struct collector *collector; /* NULL: nothing is sampled */
	struct namer *namer;         /* of its windows */
	bool keep_processes;         /* apart, short-lived ones too */
	struct handover kallsyms;    /* from the one to the other */
	struct sampler_probe probe;
	sd_event_source *on_collected, *on_retry;
	struct fault why_not; /* of the last attempt */
	char logged[512];     /* the last error, so that it is not logged again and again */
	struct rate_log rates;
};

/* Logs an error, but not twice in a row. */
static void log_once(struct sampling *s, const char *id, const char *text)
{
	if (strcmp(s->logged, text) == 0)
		return;
	snprintf(s->logged, sizeof(s->logged), "%s", text);
	log_error(id, "%s", text);
}

static double budget_of(const struct config *config)
{
	return (double)config->cpu_budget_ppm / 1e6;
}

/* Rare events are not to be left out, nor has a period that was asked for a lowest rate. */
static double max_scale(const struct sampling *s)
{
	double scale = (double)s->config.sampling.frequency / LEAST_HZ;

	if (s->probe.is_counted && s->probe.period < LEAST_PERIOD)
		return 1;
	return MAX(scale, 1);
}

/* Samples that a busy CPU is due in a second; 0: not known. */
static double busy_hz(const struct sampling *s)
{
	return s->config.sampling.period > 0 ? 0 : (double)s->config.sampling.frequency;
}

static void log_rates(struct sampling *s)
{
	char what[160];

	if (!s->collector)
		return;
	sampling_describe(s, what, sizeof(what));
	rate_log_window(&s->rates, s->collector, what, budget_of(&s->config));
}

static void hand_over(struct sampling *s, struct window_profile *collected)
{
	bool closed = !collected->window.open;
	struct fault fault = {};
	int r;

	if (closed && s->collector)
		collector_rank(s->collector, collected->profile, s->config.sampling.hot_share);
	r = archive_add(s->archive, collected, &fault);

	if (r < 0)
		log_once(s, LOG_ID_NOT_STORED, fault.text);
	else if (!closed)
		return;
	else
		s->logged[0] = '\0';
	if (closed)
		log_rates(s);
	s->changed(s->userdata);
}

/* Takes one window: 1; 0 if none waits; or the -errno and @fault of a collector that has failed. */
static int take_one(struct sampling *s, struct fault *fault)
{
	struct window_profile named;

	archive_count_lost(s->archive, namer_take_lost(s->namer));
	if (namer_take(s->namer, &named)) {
		hand_over(s, &named);
		return 1;
	}
	return collector_get_result(s->collector, fault);
}

static void stop(struct sampling *s)
{
	struct fault fault = {};

	if (!s->collector)
		return;
	s->on_collected = sd_event_source_disable_unref(s->on_collected);
	collector_stop(s->collector);
	namer_stop(s->namer);
	while (take_one(s, &fault) > 0)
		;
	if (archive_flush(s->archive, &fault) < 0)
		log_once(s, LOG_ID_NOT_STORED, fault.text);
	s->namer = namer_free(s->namer);
	s->collector = collector_free(s->collector);
	handover_done(&s->kallsyms);
	archive_set_open(s->archive, 0, NULL);
}

static void retry_later(struct sampling *s)
{
	sd_event_source_set_time_relative(s->on_retry, RETRY_US);
	sd_event_source_set_enabled(s->on_retry, SD_EVENT_ONESHOT);
}

/* Takes one window at a time, so that other events get their turn if storing is slow. */
static int on_collected(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct sampling *s = userdata;
	struct fault fault = {};
	int r = take_one(s, &fault);

	if (r >= 0)
		return 0;
	s->why_not = fault;
	log_once(s, LOG_ID_NO_SAMPLING, fault.text);
	stop(s);
	retry_later(s);
	s->changed(s->userdata);
	return 0;
}

/* Connects to a new opener. Called in the thread that needs it. */
static int on_connect(void *userdata)
{
	const struct sampling *s = userdata;

	return s->helpers ? helpers_connect(s->helpers, HELPER_OPENER) : -ENOENT;
}

static int on_parser_wanted(uint32_t owner, void *userdata)
{
	const struct sampling *s = userdata;

	return s->helpers ? helpers_connect(s->helpers, HELPER_PARSER) : -ENOENT;
}

static int on_kallsyms_wanted(void *userdata)
{
	_cleanup_(events_client_freep) struct events_client *events = NULL;
	struct sampling *s = userdata;
	int r = handover_take(&s->kallsyms);

	if (r >= 0)
		return r;
	r = s->helpers ? events_client_new(&events, s->helpers) : -ENOENT;
	return r < 0 ? r : events_client_open_kallsyms(events);
}

/* Starts the collector of @sampler, which it takes over, and the namer behind it. */
static int start_threads(struct sampling *s, struct sampler *sampler)
{
	struct collector_settings settings = {
		.window_us = s->config.window_us,
		.max_queued = MAX_QUEUED,
		.max_rows = s->config.max_branches,
		.max_frames = s->config.max_stacks,
		.units = s->config.sampling.only.units,
		.keep_processes = s->keep_processes,
		.budget = budget_of(&s->config),
		.max_scale = max_scale(s),
		.hz = busy_hz(s),
	};
	const struct namer_settings naming = {
		.opener = { .connect = on_connect,
			    .userdata = s,
			    .remote = s->config.remote_file_systems },
		.parser = { .connect = on_parser_wanted, .userdata = s },
		.open_kallsyms = on_kallsyms_wanted,
		.userdata = s,
		.max_queued = MAX_QUEUED,
		.table_cache = s->tables,
		.symbols = s->symbols,
	};
	int r = namer_new(&s->namer, &naming);

	if (r < 0) {
		sampler_free(sampler);
		return fault_set(&s->why_not, r, "cannot start naming: %s", strerror(-r));
	}
	settings.tables = namer_tables(s->namer);
	sampler_announce_files(sampler, namer_files(s->namer));
	running_kernel_keep(sampler_kernel(sampler), &s->kallsyms,
			    s->tables ? kept_files_directory(s->tables) : -1);
	r = collector_start(&s->collector, sampler, &settings, &s->why_not);
	if (r < 0) {
		s->namer = namer_free(s->namer);
		return r;
	}
	r = namer_start(s->namer, collector_queue(s->collector));
	if (r >= 0)
		r = sd_event_add_io(s->event, &s->on_collected, namer_fd(s->namer), EPOLLIN,
				    on_collected, s);
	if (r >= 0)
		return 0;
	stop(s);
	return fault_set(&s->why_not, r, "cannot wait for windows: %s", strerror(-r));
}

static int start(struct sampling *s)
{
	struct sampler *sampler;
	int r;

	r = sampler_open(&sampler, &s->config.sampling, s->helpers, &s->why_not);
	if (r < 0)
		return r;
	s->probe = *sampler_probe(sampler);
	return start_threads(s, sampler);
}

void sampling_describe(const struct sampling *s, char *ret, size_t n)
{
	const struct sampler_settings *settings = &s->config.sampling;
	const char *mode = sampler_mode_name(s->probe.mode);

	if (s->probe.is_counted)
		snprintf(ret, n, "every %llu %s, mode %s", (unsigned long long)s->probe.period,
			 s->probe.event, mode);
	else
		snprintf(ret, n, "%s at %llu Hz, mode %s", s->probe.event,
			 (unsigned long long)settings->frequency, mode);
}

static void log_start(const struct sampling *s)
{
	char mode[64], event[96], frequency[64], what[160], captured[96] = "";
	const char *fields[] = { mode, event, frequency, NULL };
	const char *why = s->probe.why_not_better;

	snprintf(mode, sizeof(mode), "BRANCHD_MODE=%s", sampler_mode_name(s->probe.mode));
	snprintf(event, sizeof(event), "BRANCHD_EVENT=%s", s->probe.event);
	snprintf(frequency, sizeof(frequency), "BRANCHD_FREQUENCY=%llu",
		 (unsigned long long)s->config.sampling.frequency);
	sampling_describe(s, what, sizeof(what));
	if (s->config.sampling.capture_share < 1 || s->config.sampling.hot_share > 0)
		snprintf(captured, sizeof(captured), ", the stacks of %g %% of the samples%s",
			 100 * s->config.sampling.capture_share,
			 s->config.sampling.hot_share > 0 ? " of hot functions" : "");
	log_write(LOG_INFO, LOG_ID_SAMPLING, fields, "sampling %s%s%s%s", what, captured,
		  *why ? ": " : "", why);
}

static void try_to_start(struct sampling *s)
{
	if (start(s) == 0) {
		s->why_not.text[0] = s->logged[0] = '\0';
		s->rates = (struct rate_log){ 0 };
		archive_set_open(s->archive, clock_us(CLOCK_REALTIME),
				 sampler_mode_name(s->probe.mode));
		log_start(s);
	} else {
		log_once(s, LOG_ID_NO_SAMPLING, s->why_not.text);
		retry_later(s);
	}
	s->changed(s->userdata);
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct sampling *s = userdata;

	if (!s->collector)
		try_to_start(s);
	return 0;
}

int sampling_new(struct sampling **ret, sd_event *event, const struct sampling_settings *settings)
{
	_cleanup_(sampling_freep) struct sampling *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->event = sd_event_ref(event);
	s->archive = settings->archive;
	s->helpers = settings->helpers;
	s->tables = settings->tables;
	s->symbols = settings->symbols;
	s->changed = settings->changed;
	s->userdata = settings->userdata;
	r = sd_event_add_time(event, &s->on_retry, CLOCK_MONOTONIC, 0, 0, on_retry, s);
	if (r >= 0)
		r = sd_event_source_set_enabled(s->on_retry, SD_EVENT_OFF);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

struct sampling *sampling_free(struct sampling *sampling)
{
	if (!sampling)
		return NULL;
	stop(sampling);
	sd_event_source_disable_unref(sampling->on_retry);
	sd_event_unref(sampling->event);
	free(sampling);
	return NULL;
}

static bool samples_alike(const struct sampler_settings *a, const struct sampler_settings *b)
{
	return a->mode == b->mode && memcmp(&a->event, &b->event, sizeof(a->event)) == 0 &&
	       a->frequency == b->frequency && strcmp(a->cpus, b->cpus) == 0 &&
	       a->period == b->period && a->branch_filter == b->branch_filter &&
	       a->ring_pages == b->ring_pages && a->kernel == b->kernel &&
	       a->user_stacks == b->user_stacks && a->capture_share == b->capture_share &&
	       a->hot_share == b->hot_share && memcmp(&a->only, &b->only, sizeof(a->only)) == 0;
}

static bool is_same(const struct config *a, const struct config *b)
{
	return samples_alike(&a->sampling, &b->sampling) && a->max_stacks == b->max_stacks &&
	       a->remote_file_systems == b->remote_file_systems &&
	       a->max_branches == b->max_branches && a->window_us == b->window_us;
}

void sampling_begin(struct sampling *sampling, const struct config *config)
{
	bool same = is_same(&sampling->config, config);

	sampling->config = *config;
	if (sampling->collector && same) {
		collector_set_budget(sampling->collector, budget_of(config));
		return;
	}
	stop(sampling);
	sampling->logged[0] = '\0'; /* the user has changed something, and expects an answer */
	try_to_start(sampling);
}

static void format_time(char *ret, size_t n, uint64_t us)
{
	time_t seconds = (time_t)(us / 1000000);
	struct tm tm;

	if (!localtime_r(&seconds, &tm) || strftime(ret, n, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		*ret = '\0';
}

/* Logs the lost windows even if the reason was logged before. */
static void log_lost(const struct sampling *s, const char *why)
{
	struct archive_status status;
	char from[32], to[32];
	struct window window;

	if (!archive_get_waiting(s->archive, &window))
		return;
	archive_get_status(s->archive, &status);
	format_time(from, sizeof(from), window.start_us);
	format_time(to, sizeof(to), window.start_us + window.length_us);
	log_error(LOG_ID_NOT_STORED,
		  "%llu windows lost, from %s to %s: the database could not be written: %s",
		  (unsigned long long)status.waiting, from, to, why);
}

void sampling_end(struct sampling *sampling)
{
	struct fault fault = {};

	sd_event_source_set_enabled(sampling->on_retry, SD_EVENT_OFF);
	store_heal_at_once(archive_get_store(sampling->archive));
	stop(sampling);
	if (archive_flush(sampling->archive, &fault) < 0)
		log_lost(sampling, fault.text);
}

void sampling_keep_processes(struct sampling *sampling, bool keep)
{
	sampling->keep_processes = keep;
	if (sampling->collector)
		collector_keep_processes(sampling->collector, keep);
}

void sampling_request_part(struct sampling *sampling)
{
	if (sampling->collector)
		collector_request_part(sampling->collector);
}

bool sampling_get_turn(const struct sampling *sampling, uint64_t *ret_us)
{
	if (sampling->collector)
		*ret_us = collector_get_turn(sampling->collector);
	return sampling->collector != NULL;
}

static void add_refused(const char *path, const char *reason, void *userdata)
{
	status_add_refused(userdata, path, reason);
}

static void get_naming(struct namer *namer, struct status *status)
{
	struct namer_counts counts;

	namer_get_counts(namer, &counts);
	status->unnamed_objects = counts.unnamed;
	status->naming = (struct status_naming){
		.behind = counts.behind,
		.parsers_died = counts.parsers_ended[PARSER_END_DIED],
		.parsers_cpu = counts.parsers_ended[PARSER_END_CPU],
		.parsers_timeout = counts.parsers_ended[PARSER_END_TIMEOUT],
		.parsers_answer = counts.parsers_ended[PARSER_END_ANSWER],
		.openers_timeout = counts.opener.hung + status->samples.openers_hung,
		.files_remote = counts.remote,
		.files_skipped = counts.opener.skipped,
		.files_dropped = counts.dropped,
		.files_deferred = counts.deferred,
		.lines_malformed = counts.malformed,
	};
	namer_for_each_refused(namer, add_refused, status);
}

void sampling_get_status(const struct sampling *sampling, struct status *status)
{
	struct own_cost_report cost;

	status->running = sampling->collector != NULL;
	status->probe = sampling->probe;
	if (!sampling->probe.is_counted)
		status->frequency = sampling->config.sampling.frequency;
	status->capture = sampling->config.sampling.capture_share;
	status->hot = sampling->config.sampling.hot_share;
	status->window_us = sampling->config.window_us;
	status->budget = budget_of(&sampling->config);
	if (sampling->collector) {
		collector_get_cost(sampling->collector, &cost);
		status->scale = cost.scale;
		status->throttled = cost.throttled;
		status->share = cost.share;
		status->hour_share = cost.hour.share;
		status->hour_taken = cost.hour.taken;
		collector_get_counts(sampling->collector, &status->samples);
		collector_get_stack_counts(sampling->collector, &status->stacks);
		status->n_short =
			collector_get_short_stacks(sampling->collector, status->short_stacks);
		get_naming(sampling->namer, status);
	} else {
		snprintf(status->why_not, sizeof(status->why_not), "%s", sampling->why_not.text);
	}
}
