/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A command line while it is read: the options, and the words that later ones decide about. */
#pragma once

#include <stdbool.h>

#include "client/cli/options/options.h"
#include "common/util/fault.h"

#define OPTIONS_MAX_OPERANDS 8

/* The words read so far; the command may come last. */
struct command_line {
	struct options options;
	struct fault *fault;
	unsigned int commands; /* those that take all options so far */
	const char *refused;   /* the option that a command did not take */
	const char *by;        /* the argument of --by; none of options.views: it is invalid */
	const char *owner;     /* the argument of a second --by */
	int n_by;              /* how many more there are */
	const char *sort;      /* the argument of --sort; the view decides whether it is valid */
	const char *format;    /* that of --format; the command decides whether it is valid */
	bool help, version;
	const char *operands[OPTIONS_MAX_OPERANDS]; /* the command and what follows */
	int n_operands;                             /* may be more than fit */
};
