/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * branchd: profiles the whole machine, always, and stores the counts.
 */
#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/util/fault.h"
#include "daemon/daemon.h"
#include "daemon/log.h"

#define MMAP_THRESHOLD (128 << 10)

enum exit_status {
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
};

static const char usage[] =
	"Usage: branchd [OPTION...]\n"
	"Samples this machine, stores windows of counts, and serves them to branchctl.\n"
	"\n"
	"      --config FILE            read FILE and FILE.d/*.conf, and no other configuration\n"
	"      --state-directory DIR    keep the database in DIR (" DAEMON_STATE_DIRECTORY ")\n"
	"      --socket PATH            serve PATH (" DAEMON_SOCKET ")\n"
	"      --help                   show this text\n"
	"      --version                show the version\n"
	"\n"
	"See branchd(8).\n";

/* 1: go on; 0: done; -1: wrong usage. */
static int parse_options(int argc, char **argv, struct daemon_settings *ret)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "state-directory", required_argument, NULL, 'd' },
		{ "socket", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (option) {
		case 'c':
			ret->config = optarg;
			break;
		case 'd':
			ret->state_directory = optarg;
			break;
		case 's':
			ret->socket = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		case 'v':
			puts("branchd " BRANCHD_VERSION);
			return 0;
		default:
			return -1; /* getopt has reported it */
		}
	}
	if (optind == argc)
		return 1;
	fprintf(stderr, "branchd: unexpected argument: %s\n", argv[optind]);
	return -1;
}

static int run(const struct daemon_settings *settings, struct fault *fault)
{
	_cleanup_(daemon_freep) struct daemon *daemon = NULL;
	sd_event *event = NULL;
	int r;

	r = sd_event_new(&event);
	if (r < 0)
		return fault_set(fault, r, "cannot make an event loop");
	r = daemon_new(&daemon, event, settings, fault);
	sd_event_unref(event); /* the daemon has its own reference */
	return r < 0 ? r : daemon_run(daemon, fault);
}

int main(int argc, char **argv)
{
	struct daemon_settings settings = {};
	struct fault fault = {};
	int r;

	r = parse_options(argc, argv, &settings);
	if (r <= 0)
		return r < 0 ? STATUS_USAGE : EXIT_SUCCESS;
	log_open();
	/* large tables come and go with every window: they must not fragment the heap */
	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	/* libdw must not search debuginfod servers in the network */
	unsetenv("DEBUGINFOD_URLS");
	r = run(&settings, &fault);
	if (r < 0)
		log_error(NULL, "%s", fault.text);
	return r < 0 ? STATUS_FAILED : EXIT_SUCCESS;
}
