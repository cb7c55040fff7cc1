/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/api/methods.h"
#include "daemon/archive/archive.h"
#include "daemon/config.h"
#include "daemon/directories.h"
#include "daemon/heap/heap.h"
#include "daemon/log.h"
#include "daemon/naming/kept-symbols.h"
#include "daemon/pmu-problems.h"
#include "daemon/roller.h"
#include "daemon/sampling.h"
#include "daemon/store/store.h"
#include "daemon/unwind/table-cache.h"
#include "daemon/varlink/server.h"
#include "daemon/watchdog/watchdog.h"

#define REMOVED  "the database was removed or replaced while open: a new one is in use"
#define RENAMED  "the database could not be used (%s): renamed to %s, a new one was begun"
#define UNOPENED "%s; branchd keeps windows in memory, and tries to open it with new ones"

struct daemon {
	sd_event *event;
	char *config_path; /* NULL: the usual ones */
	char *database;
	char *socket; /* made and removed by the daemon; NULL: systemd's */
	struct helpers *helpers;
	struct config config;
	struct fault config_fault; /* of the last reload; "": none */
	uint64_t started_us;
	struct kept_files *tables;  /* NULL: it cannot be used */
	struct kept_files *symbols; /* likewise */
	struct fault tables_fault;  /* why */
	struct archive *archive;
	struct roller *roller;
	struct sampling *sampling;
	struct methods *methods;
	struct server *server;
	struct watchdog *watchdog; /* NULL before daemon_run() */
	uint64_t logged_moved;     /* databases that were renamed */
	bool logged_removed, logged_converted, logged_damaged, logged_unopened;
	sd_event_source *on_reload;
};

static void on_config_warning(const char *text, void *userdata)
{
	log_warning(LOG_ID_CONFIGURATION, "%s", text);
}

static void on_cut(void *userdata)
{
	struct daemon *daemon = userdata;

	sampling_request_part(daemon->sampling);
}

static bool on_get_turn(uint64_t *ret_us, void *userdata)
{
	struct daemon *daemon = userdata;

	return sampling_get_turn(daemon->sampling, ret_us);
}

static void on_stuck(bool stuck, const char *text, void *userdata)
{
	log_write(stuck ? LOG_ERR : LOG_INFO, LOG_ID_STUCK, NULL, "%s", text);
}

static void add_stuck(struct status *status, const struct watchdog *watchdog)
{
	char text[512] = "";

	if (watchdog)
		watchdog_describe(watchdog, text, sizeof(text));
	status_add_problem(status, text);
}

static void get_helper(const struct helpers *helpers, enum helper_kind kind,
		       struct status_helper *ret)
{
	struct helper_counts counts = {};

	if (helpers)
		helpers_get_counts(helpers, kind, &counts);
	*ret = (struct status_helper){ counts.connected, counts.refused, counts.failed };
}

/* The namer counts those of its helpers by reason. */
static void add_failures(struct status *status)
{
	const struct status_naming *n = &status->naming;

	status->opener.failed += n->openers_timeout;
	status->parser.failed +=
		n->parsers_died + n->parsers_cpu + n->parsers_timeout + n->parsers_answer;
}

static void on_keep_processes(bool keep, void *userdata)
{
	struct daemon *daemon = userdata;

	if (daemon->sampling)
		sampling_keep_processes(daemon->sampling, keep);
}

static void on_get_status(struct status *status, void *userdata)
{
	struct daemon *daemon = userdata;
	char text[sizeof(status->store.moved_to) + sizeof(status->store.why_moved) + 160];

	status->started_us = daemon->started_us;
	sampling_get_status(daemon->sampling, status);
	get_helper(daemon->helpers, HELPER_OPENER, &status->opener);
	get_helper(daemon->helpers, HELPER_PARSER, &status->parser);
	get_helper(daemon->helpers, HELPER_EVENTS, &status->events);
	add_failures(status);
	archive_get_status(daemon->archive, &status->archive);
	store_get_status(archive_get_store(daemon->archive), &status->store);
	server_get_counts(daemon->server, &status->server);
	add_stuck(status, daemon->watchdog);
	if (strcmp(status->archive.fault, status->store.damage) != 0)
		status_add_problem(status, status->archive.fault);
	status_add_problem(status, daemon->config_fault.text);
	status_add_problem(status, daemon->tables_fault.text);
	if (daemon->tables)
		kept_files_get_counts(daemon->tables, &status->tables);
	if (daemon->symbols)
		kept_files_get_counts(daemon->symbols, &status->symbols);
	pmu_problems_add(status);
	if (status->store.removed)
		status_add_problem(status, REMOVED);
	status_add_problem(status, status->store.damage);
	if (*status->store.unopened && !*status->archive.fault)
		status_add_problem(status, status->store.unopened);
	if (!*status->store.moved_to)
		return;
	snprintf(text, sizeof(text), RENAMED, status->store.why_moved, status->store.moved_to);
	status_add_problem(status, text);
}

/* STATUS= of systemctl status. */
static void notify_status(struct daemon *daemon)
{
	struct status *status = daemon->server ? calloc(1, sizeof(*status)) : NULL;
	char what[160];

	if (!status)
		return;
	on_get_status(status, daemon);
	sampling_describe(daemon->sampling, what, sizeof(what));
	if (status->running)
		sd_notifyf(0, "STATUS=Sampling %s.", what);
	else
		sd_notifyf(0, "STATUS=Not sampling: %s", status->why_not);
	free(status);
}

/* Logs, once each, that the database was renamed, removed or damaged. */
static void check_database(struct daemon *daemon)
{
	struct store_status *status = calloc(1, sizeof(*status));

	if (!status)
		return;
	store_get_status(archive_get_store(daemon->archive), status);
	if (status->n_moved > daemon->logged_moved) {
		log_warning(LOG_ID_DATABASE, RENAMED, status->why_moved, status->moved_to);
		daemon->logged_moved = status->n_moved;
	}
	if (*status->damage && !daemon->logged_damaged)
		log_warning(LOG_ID_DATABASE, "%s", status->damage);
	daemon->logged_damaged = *status->damage;
	if (*status->unopened && !daemon->logged_unopened)
		log_warning(LOG_ID_DATABASE, UNOPENED, status->unopened);
	if (!*status->unopened && daemon->logged_unopened)
		log_info(LOG_ID_DATABASE, "the database is open now");
	daemon->logged_unopened = *status->unopened;
	if (status->converted > 0 && !daemon->logged_converted) {
		log_info(LOG_ID_DATABASE, "the database was converted from version %" PRId64,
			 status->converted);
		daemon->logged_converted = true;
	}
	if (status->removed && !daemon->logged_removed) {
		log_warning(LOG_ID_DATABASE, "%s", REMOVED);
		daemon->logged_removed = true;
	}
	free(status);
}

static void on_sampling_changed(void *userdata)
{
	struct daemon *daemon = userdata;

	check_database(daemon);
	notify_status(daemon);
	heap_trim();
}

static struct store_settings store_settings_of(const struct config *config)
{
	return (struct store_settings){ .max_bytes = config->max_use_bytes,
					.keep_free = config->keep_free,
					.tiers = config->tiers,
					.max_retention_us = config->max_retention_us };
}

static int open_store(struct store **ret, const struct daemon *daemon, struct fault *fault)
{
	const struct store_settings settings = store_settings_of(&daemon->config);

	/* what cannot be opened yet, check_database() reports */
	return store_open_later(ret, daemon->database, &settings, fault);
}

/* Applies the new configuration. An invalid one changes nothing. */
static void reload(struct daemon *daemon)
{
	struct store_settings store;
	int r;

	daemon->config_fault.text[0] = '\0';
	r = config_load_path(&daemon->config, daemon->config_path, on_config_warning, NULL,
			     &daemon->config_fault);
	if (r < 0) {
		log_error(LOG_ID_CONFIGURATION, "%s; the old configuration stays in effect",
			  daemon->config_fault.text);
		return;
	}
	store = store_settings_of(&daemon->config);
	store_set_settings(archive_get_store(daemon->archive), &store);
	sampling_begin(daemon->sampling, &daemon->config);
}

static int on_reload(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	struct daemon *daemon = userdata;

	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu",
		   (unsigned long long)clock_us(CLOCK_MONOTONIC));
	reload(daemon);
	sd_notify(0, "READY=1");
	notify_status(daemon);
	return 0;
}

/* The socket that systemd passed; -ENOENT if it passed none. */
static int passed_socket(struct fault *fault)
{
	int n = sd_listen_fds(1);

	if (n < 0)
		return fault_set(fault, n, "cannot take the socket from systemd: %s", strerror(-n));
	if (n == 0)
		return -ENOENT;
	if (n > 1 || sd_is_socket_unix(SD_LISTEN_FDS_START, SOCK_STREAM, 1, NULL, 0) <= 0)
		return fault_set(fault, -EINVAL,
				 "systemd passed %d descriptors, not one listening stream socket: "
				 "check branchd.socket",
				 n);
	return SD_LISTEN_FDS_START;
}

static int make_directory_of(const char *path, struct fault *fault)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *directory = NULL;

	if (!slash || slash == path)
		return 0;
	directory = strndup(path, (size_t)(slash - path));
	if (!directory)
		return fault_set(fault, -ENOMEM, "no memory for a path");
	return directories_make(directory, 0755, fault);
}

static gid_t find_group(void)
{
	const struct group *group = getgrnam(DAEMON_GROUP);

	return group ? group->gr_gid : (gid_t)-1;
}

static int open_socket(struct daemon *daemon, const char *path, gid_t group, struct fault *fault)
{
	int fd, r;

	fd = path ? -ENOENT : passed_socket(fault);
	if (fd != -ENOENT)
		return fd;
	path = path ?: DAEMON_SOCKET;
	r = make_directory_of(path, fault);
	if (r < 0)
		return r;
	/* a user who runs the daemon by hand owns the socket */
	fd = server_listen(path, geteuid() == 0 ? group : (gid_t)-1, fault);
	if (fd < 0)
		return fd;
	daemon->socket = strdup(path);
	return fd;
}

static int open_server(struct daemon *daemon, const char *path, struct fault *fault)
{
	struct server_settings settings = { .group = find_group() };
	int fd;

	fd = open_socket(daemon, path, settings.group, fault);
	if (fd < 0)
		return fd;
	methods_fill_settings(daemon->methods, &settings);
	return server_new(&daemon->server, daemon->event, fd, &settings, fault);
}

/* Without its directory tables of all objects are built again after each start, and the kernel's
 * symbols are read again. */
static int open_kept(struct daemon *daemon, const char *state_directory, struct fault *fault)
{
	struct kept_files_settings settings = {};
	_cleanup_free_ char *directory = NULL;
	const char *what = "unwind tables and kernel symbols";
	int r = directories_find_tables(state_directory, &directory);

	settings.directory = directory;
	if (r >= 0)
		r = table_cache_open(&daemon->tables, &settings);
	if (r >= 0) {
		what = "kernel symbols";
		r = kept_symbols_open(&daemon->symbols, &settings);
	}
	if (r == -ENOMEM)
		return fault_set(fault, r, "no memory to start");
	if (r < 0) {
		fault_set(&daemon->tables_fault, r, "%s are not kept in %s: %s", what, directory,
			  strerror(-r));
		log_warning(LOG_ID_TABLES, "%s", daemon->tables_fault.text);
	}
	return 0;
}

/* Makes the parts that need only memory and the event loop. Takes over @store. */
static int make_parts(struct daemon *daemon, struct store *store)
{
	const struct methods_settings methods = {
		.event = daemon->event,
		.cut = on_cut,
		.get_status = on_get_status,
		.keep_processes = on_keep_processes,
		.userdata = daemon,
	};
	struct sampling_settings sampling = {
		.helpers = daemon->helpers,
		.tables = daemon->tables,
		.symbols = daemon->symbols,
		.changed = on_sampling_changed,
		.userdata = daemon,
	};
	struct methods_settings with_archive;
	int r;

	r = archive_new(&daemon->archive, store);
	if (r < 0)
		return r;
	sampling.archive = daemon->archive;
	r = roller_new(&daemon->roller, daemon->event, store);
	if (r < 0)
		return r;
	with_archive = methods;
	with_archive.archive = daemon->archive;
	r = methods_new(&daemon->methods, &with_archive);
	if (r < 0)
		return r;
	return sampling_new(&daemon->sampling, daemon->event, &sampling);
}

static int add_signals(struct daemon *daemon)
{
	sigset_t set;
	int r;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	r = sd_event_add_signal(daemon->event, &daemon->on_reload, SIGHUP, on_reload, daemon);
	if (r >= 0)
		r = sd_event_add_signal(daemon->event, NULL, SIGTERM, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(daemon->event, NULL, SIGINT, NULL, NULL);
	return r < 0 ? r : 0;
}

int daemon_new(struct daemon **ret, sd_event *event, const struct daemon_settings *settings,
	       struct fault *fault)
{
	_cleanup_(daemon_freep) struct daemon *daemon = calloc(1, sizeof(*daemon));
	struct store *store = NULL;
	int r;

	if (!daemon)
		return fault_set(fault, -ENOMEM, "no memory to start");
	daemon->event = sd_event_ref(event);
	daemon->helpers = settings->helpers;
	daemon->started_us = clock_us(CLOCK_REALTIME);
	if (settings->config) {
		daemon->config_path = strdup(settings->config);
		if (!daemon->config_path)
			return fault_set(fault, -ENOMEM, "no memory to start");
	}
	r = config_load_path(&daemon->config, daemon->config_path, on_config_warning, NULL, fault);
	r = r ?: directories_find_database(settings->state_directory, &daemon->database, fault);
	r = r ?: open_kept(daemon, settings->state_directory, fault);
	r = r ?: open_store(&store, daemon, fault);
	if (r < 0)
		return r;
	r = make_parts(daemon, store);
	if (r == 0)
		r = add_signals(daemon);
	if (r < 0)
		return fault_set(fault, r, "cannot start: %s", strerror(-r));
	r = open_server(daemon, settings->socket, fault);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(daemon);
	return 0;
}

struct daemon *daemon_free(struct daemon *daemon)
{
	if (!daemon)
		return NULL;
	/* the socket first: new connections must fail, or reach the next daemon */
	if (daemon->socket)
		unlink(daemon->socket);
	if (daemon->sampling)
		sampling_end(daemon->sampling);
	watchdog_free(daemon->watchdog);
	daemon->server = server_free(daemon->server);
	methods_free(daemon->methods);
	sampling_free(daemon->sampling);
	kept_files_free(daemon->symbols);
	kept_files_free(daemon->tables);
	roller_free(daemon->roller);
	archive_free(daemon->archive);
	sd_event_source_disable_unref(daemon->on_reload);
	sd_event_unref(daemon->event);
	free(daemon->config_path);
	free(daemon->database);
	free(daemon->socket);
	free(daemon);
	return NULL;
}

int daemon_run(struct daemon *daemon, struct fault *fault)
{
	const struct watchdog_settings watchdog = {
		.get_turn = on_get_turn,
		.report = on_stuck,
		.userdata = daemon,
	};
	int r;

	sampling_begin(daemon->sampling, &daemon->config);
	r = watchdog_new(&daemon->watchdog, daemon->event, &watchdog);
	if (r < 0)
		return fault_set(fault, r, "cannot feed the watchdog: %s", strerror(-r));
	sd_notify(0, "READY=1");
	on_sampling_changed(daemon);
	r = sd_event_loop(daemon->event);
	sd_notify(0, "STOPPING=1\nSTATUS=Storing the last window.");
	return r < 0 ? fault_set(fault, r, "the event loop failed: %s", strerror(-r)) : r;
}
