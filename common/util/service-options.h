/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command line of a service: long options and nothing else; --help and --version. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Exit statuses. */
enum service_status {
	SERVICE_FAILED = 1,
	SERVICE_USAGE = 2,
};

struct service_option {
	const char *name;
	const char **text; /* where its argument goes; NULL: it has none */
	bool *flag;        /* of those without: set to true */
};

struct service_options {
	const char *program, *version;
	const char *usage; /* what --help writes */
	const struct service_option *options;
	size_t n; /* at most SERVICE_OPTIONS_MAX */
};

#define SERVICE_OPTIONS_MAX 14

/* Arguments are borrowed from @argv. 1: go on; 0: --help or --version was answered; -1: wrong
 * usage, which was reported. */
int service_options_read(const struct service_options *options, int argc, char **argv);
