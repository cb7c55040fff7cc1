/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The command line: one table of options for all commands, which may stand before or after the
 * command and its operands.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/color.h"
#include "client/connection.h"
#include "client/view.h"
#include "common/profile/filter.h"
#include "common/symbol/symbolizer.h"
#include "common/util/fault.h"

#define OPTIONS_DEFAULT_ROWS 20

enum options_command {
	OPTIONS_STATUS,
	OPTIONS_WINDOWS,
	OPTIONS_TOP,
	OPTIONS_DUMP,
	OPTIONS_N_COMMANDS,
};

struct options {
	enum options_command command;
	const char *window; /* NULL: none was given */
	const char *socket;
	uint64_t now_us;             /* what times were reckoned from */
	uint64_t since_us, until_us; /* 0 and UINT64_MAX: not given */
	bool follow;

	enum view_by by;
	size_t n_rows; /* 0: all */
	bool once;
	bool samples;

	struct profile_filter filter; /* its strings are the command line's, as are all here */
	bool force;
	const char *event;
	struct symbolizer_settings symbols;
	bool inlined;

	bool json;
	bool no_pager;
	enum color_mode color;
};

/*
 * Reads the command line. 1: go on; 0: help or version were asked for and written to stdout;
 * -EINVAL and @fault: wrong usage.
 */
int options_parse(struct options *ret, int argc, char **argv, struct fault *fault);
