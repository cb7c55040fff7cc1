/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * branchd: profiles the whole machine, always, and stores the counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/util/fault.h"
#include "common/util/macro.h"
#include "common/util/service-options.h"
#include "common/util/standard-streams.h"
#include "daemon/daemon.h"
#include "daemon/directories.h"
#include "daemon/heap/heap.h"
#include "daemon/launcher/capabilities.h"
#include "daemon/log.h"

static const char usage[] =
	"Usage: branchd [OPTION...]\n"
	"Samples this machine, stores windows of counts, and serves them to branchctl.\n"
	"\n"
	"      --config FILE            read FILE and FILE.d/*.conf, and no other configuration\n"
	"      --state-directory DIR    keep the database in DIR (" DIRECTORIES_STATE ")\n"
	"      --socket PATH            serve PATH (" DAEMON_SOCKET ")\n"
	"      --helpers DIR            use the helpers whose sockets are in DIR, and start none\n"
	"      --help                   show this text\n"
	"      --version                show the version\n"
	"\n"
	"See branchd(8).\n";

struct arguments {
	struct daemon_settings settings;
	const char *helpers; /* NULL: started by the launcher */
};

/* As service_options_read(). */
static int read_options(int argc, char **argv, struct arguments *ret)
{
	const struct service_option table[] = {
		{ "config", &ret->settings.config, NULL },
		{ "state-directory", &ret->settings.state_directory, NULL },
		{ "socket", &ret->settings.socket, NULL },
		{ "helpers", &ret->helpers, NULL },
	};
	const struct service_options options = { "branchd", BRANCHD_VERSION, usage, table,
						 ARRAY_SIZE(table) };

	return service_options_read(&options, argc, argv);
}

static int run(struct arguments *arguments, struct fault *fault)
{
	_cleanup_(helpers_freep) struct helpers *helpers = NULL;
	_cleanup_(daemon_freep) struct daemon *daemon = NULL;
	sd_event *event = NULL;
	int r;

	/* first of all: the launcher is a copy of this process, and keeps its privileges */
	r = helpers_new(&helpers, arguments->helpers);
	if (r < 0)
		return fault_set(fault, r, "cannot start the launcher: %s", strerror(-r));
	arguments->settings.helpers = helpers;
	r = sd_event_new(&event);
	if (r < 0)
		return fault_set(fault, r, "cannot make an event loop");
	r = daemon_new(&daemon, event, &arguments->settings, fault);
	sd_event_unref(event); /* the daemon has its own reference */
	if (r < 0)
		return r;
	r = capabilities_keep(0);
	if (r < 0)
		return fault_set(fault, r, "cannot give up privileges: %s", strerror(-r));
	return daemon_run(daemon, fault);
}

int main(int argc, char **argv)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct arguments arguments = {};
	struct fault fault = {};
	int r;

	if (standard_streams_fill() < 0)
		return SERVICE_FAILED;
	r = read_options(argc, argv, &arguments);
	if (r <= 0)
		return r < 0 ? SERVICE_USAGE : EXIT_SUCCESS;
	log_open();
	/* the rings are locked memory; later there is no right to raise the limit */
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	heap_set_up();
	/* libdw must not search debuginfod servers in the network */
	unsetenv("DEBUGINFOD_URLS");
	r = run(&arguments, &fault);
	if (r < 0)
		log_error(NULL, "%s", fault.text);
	return r < 0 ? SERVICE_FAILED : EXIT_SUCCESS;
}
