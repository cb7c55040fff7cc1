/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon without its sampling: serves the windows of a database, which is made of generated
 * ones of 10 s, up to now, where it has none. It says "ready", and ends when its standard input
 * does.
 *
 *     serve-windows SOCKET DATABASE idle|busy|renamed WINDOWS
 *     serve-windows SOCKET DATABASE change:AT:SEED WINDOWS
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/resource.h>

#include "common/util/cleanup.h"
#include "daemon/api/methods.h"
#include "daemon/varlink/server.h"
#include "tests/synthetic/change.h"
#include "tests/synthetic/window.h"

#define WINDOW_US 10000000ULL

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
	if (strcmp(name, synthetic_busy.name) == 0)
		return &synthetic_busy;
	return strcmp(name, synthetic_renamed.name) == 0 ? &synthetic_renamed : &synthetic_idle;
}

/* Of the kind that the command line names. */
static struct profile *make_profile(const char *kind, uint32_t window)
{
	struct synthetic_change change;

	if (sscanf(kind, "change:%" SCNu32 ":%" SCNu64, &change.at, &change.seed) == 2)
		return synthetic_change_profile(&change, window);
	return synthetic_profile(find_shape(kind), window);
}

static void fill(struct store *store, const char *kind, uint32_t n)
{
	uint64_t start_us = ((uint64_t)time(NULL) - n * 10) * 1000000;
	struct store_status status;

	store_get_status(store, &status);
	for (uint32_t i = 0; status.n_windows == 0 && i < n; i++) {
		_cleanup_(profile_freep) struct profile *profile = make_profile(kind, i);
		struct window window = { .start_us = start_us + i * WINDOW_US,
					 .length_us = WINDOW_US,
					 .samples = profile->counters.samples,
					 .mode = "stack+branch" };
		struct fault fault;
		int64_t id;

		check(store_add(store, &window, profile, &id, &fault), fault.text);
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
		fprintf(stderr,
			"usage: serve-windows SOCKET DATABASE idle|busy|renamed|change:AT:SEED "
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
