/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon without its sampling: serves the windows of a database, which is made of generated
 * ones of 10 s, up to now, where it has none. It says "ready", and ends when its standard input
 * does.
 *
 *     serve-windows SOCKET DATABASE idle|busy|renamed WINDOWS
 *     serve-windows SOCKET DATABASE [crowded-]change:AT:SEED WINDOWS
 *     serve-windows SOCKET DATABASE day WINDOWS
 *
 * day: windows of a busy machine as they are left after a day: the last 360 as they were, those
 * before of a minute, with as many rows as the sums of retention keep.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/resource.h>

#include "common/profile/limit/limit.h"
#include "common/profile/tables.h"
#include "common/util/cleanup.h"
#include "daemon/api/methods.h"
#include "daemon/retention/tiers.h"
#include "daemon/varlink/server.h"
#include "tests/synthetic/change.h"
#include "tests/synthetic/window.h"

#define WINDOW_US 10000000ULL
#define MINUTE_US 60000000ULL
#define N_SHORT   360 /* of an hour */

struct service {
	sd_event *event;
	struct archive *archive;
	struct methods *methods;
	struct server *server;
};

static void check(int r, const char *what)
{
	if (r >= 0)
		return;
	fprintf(stderr, "serve-windows: %s: %s\n", what, strerror(-r));
	exit(1);
}

static const struct synthetic_shape *find_shape(const char *name)
{
	if (strcmp(name, synthetic_busy.name) == 0 || strcmp(name, "day") == 0)
		return &synthetic_busy;
	return strcmp(name, synthetic_renamed.name) == 0 ? &synthetic_renamed : &synthetic_idle;
}

/* Of the kind that the command line names. */
static struct profile *make_profile(const char *kind, uint32_t window, bool is_sum)
{
	struct synthetic_change change;
	struct profile *p;

	if (is_sum) {
		p = synthetic_profile(&synthetic_busy, window);
		check(profile_limit_all(p, PROFILE_ALL_TABLES, STORE_SUM_ALL_ROWS), "limit");
		check(profile_finalize(p), "limit");
		return p;
	}
	change.crowded = strncmp(kind, "crowded-", 8) == 0;
	if (sscanf(kind + (change.crowded ? 8 : 0), "change:%" SCNu32 ":%" SCNu64, &change.at,
		   &change.seed) == 2)
		return synthetic_change_profile(&change, window);
	return synthetic_profile(find_shape(kind), window);
}

static void fill(struct store *store, const char *kind, uint32_t n)
{
	uint32_t n_sums = strcmp(kind, "day") == 0 && n > N_SHORT ? n - N_SHORT : 0;
	uint64_t start_us =
		(uint64_t)time(NULL) * 1000000 - n_sums * MINUTE_US - (n - n_sums) * WINDOW_US;
	struct store_status status;

	store_get_status(store, &status);
	for (uint32_t i = 0; status.n_windows == 0 && i < n; i++) {
		_cleanup_(profile_freep) struct profile *profile =
			make_profile(kind, i, i < n_sums);
		struct window window = { .start_us = start_us,
					 .length_us = i < n_sums ? MINUTE_US : WINDOW_US,
					 .samples = profile->counters.samples,
					 .mode = "stack+branch" };
		struct fault fault;
		int64_t id;

		check(store_add(store, &window, profile, &id, &fault), fault.text);
		start_us += window.length_us;
	}
}

static void no_cut(void *userdata)
{
}

static void no_status(struct status *status, void *userdata)
{
}

static int on_input(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	return sd_event_exit(sd_event_source_get_event(source), 0);
}

static void serve(struct service *service, struct store *store, const char *path)
{
	struct methods_settings settings = { .cut = no_cut, .get_status = no_status };
	struct server_settings server = { .group = (gid_t)-1 };
	struct fault fault;
	int fd = server_listen(path, (gid_t)-1, &fault);

	check(fd, fault.text);
	check(sd_event_new(&service->event), "event loop");
	check(archive_new(&service->archive, store), "archive");
	settings.event = service->event;
	settings.archive = service->archive;
	check(methods_new(&service->methods, &settings), "methods");
	methods_fill_settings(service->methods, &server);
	check(server_new(&service->server, service->event, fd, &server, &fault), fault.text);
	check(sd_event_add_io(service->event, NULL, STDIN_FILENO, EPOLLIN | EPOLLHUP, on_input,
			      NULL),
	      "standard input");
	puts("ready");
	fflush(stdout);
	check(sd_event_loop(service->event), "loop");
	server_free(service->server);
	methods_free(service->methods);
	archive_free(service->archive);
	sd_event_unref(service->event);
}

int main(int argc, char **argv)
{
	const struct store_settings settings = { 0 };
	struct service service = { 0 };
	struct store *store;
	struct rusage usage;
	struct fault fault;

	if (argc != 5) {
		fprintf(stderr, "usage: serve-windows SOCKET DATABASE "
				"idle|busy|renamed|day|[crowded-]change:AT:SEED "
				"WINDOWS\n");
		return 2;
	}
	check(store_open(&store, argv[2], &settings, &fault), fault.text);
	fill(store, argv[3], (uint32_t)atoi(argv[4]));
	serve(&service, store, argv[1]);
	getrusage(RUSAGE_SELF, &usage);
	printf("resident at most %ld KiB\n", usage.ru_maxrss);
	return 0;
}
