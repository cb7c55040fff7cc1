/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The command line: one table of options for all commands, which may stand before or after the
 * command and its operands.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/rpc/connection.h"
#include "client/term/color.h"
#include "client/view/tree.h"
#include "client/view/view.h"
#include "common/profile/filter.h"
#include "common/symbol/symbolizer.h"
#include "common/util/fault.h"

#define OPTIONS_DEFAULT_ROWS 20
#define OPTIONS_MAX_CHANGED  64

enum options_command {
	OPTIONS_STATUS,
	OPTIONS_WINDOWS,
	OPTIONS_TOP,
	OPTIONS_DIFF,
	OPTIONS_ANNOTATE,
	OPTIONS_DUMP,
	OPTIONS_N_COMMANDS,
};

struct options {
	enum options_command command;
	const char *window; /* NULL: none was given */
	const char *other;  /* that window is compared with */
	const char *socket;
	uint64_t now_us;             /* what times were reckoned from */
	uint64_t since_us, until_us; /* 0 and UINT64_MAX: not given */
	bool follow;

	enum view_by by;
	bool by_given;
	enum view_tree_first tree;
	size_t n_rows; /* 0: all */
	bool rows_given;
	uint32_t branch_kinds; /* a bit for each enum branch_kind, 0: all */
	bool mispredicted;     /* only those that ever were */
	bool once;
	bool all;
	double percent_limit; /* negative: not given */
	const char *before, *after;
	const char *changed[OPTIONS_MAX_CHANGED];
	size_t n_changed;
	bool samples;
	const char *code; /* what to annotate */
	bool with_source;

	struct profile_filter filter; /* its strings are the command line's, as are all here */
	bool force;
	const char *event;
	struct symbolizer_settings symbols;
	bool no_stitch;
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
