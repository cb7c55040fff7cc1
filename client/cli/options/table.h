/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of options, with name, argument, commands and help of each, and that of commands. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/cli/options/command-id.h"

/* That of an option with a short form is its letter. */
enum option_key {
	KEY_ROWS = 'n',
	KEY_OUTPUT = 'o',
	KEY_HELP = 'h',
	KEY_HOST = 'H',
	KEY_PID = 'p',
	KEY_UNIT = 'u',
	KEY_VERSION = 'V',
	KEY_BY = 256,
	KEY_TREE,
	KEY_VERBOSE,
	KEY_DEPTH,
	KEY_BRANCH_KIND,
	KEY_MISPREDICTED,
	KEY_LEVEL,
	KEY_SORT,
	KEY_ONCE,
	KEY_EVERY,
	KEY_SELF,
	KEY_ALL,
	KEY_FIND_CHANGE,
	KEY_DIFF,
	KEY_OPEN,
	KEY_PERCENT_LIMIT,
	KEY_BEFORE,
	KEY_AFTER,
	KEY_CHANGED_FUNC,
	KEY_SOURCE,
	KEY_ATT,
	KEY_FORMAT,
	KEY_SAMPLES,
	KEY_BRANCHES,
	KEY_SINCE,
	KEY_UNTIL,
	KEY_FOLLOW,
	KEY_COMM,
	KEY_EXCLUDE_COMM,
	KEY_CONTAINER,
	KEY_UID,
	KEY_OBJECT,
	KEY_SYMBOL,
	KEY_LIST,
	KEY_DELETE,
	KEY_SIZE,
	KEY_TIME,
	KEY_FORCE,
	KEY_EVENT,
	KEY_SYMFS,
	KEY_DEBUG_DIR,
	KEY_KALLSYMS,
	KEY_INLINE,
	KEY_NO_STITCH,
	KEY_SOCKET,
	KEY_HOST_LIST,
	KEY_HOST_TIMEOUT,
	KEY_CLUSTER,
	KEY_OF_HOST,
	KEY_BUILD_ID,
	KEY_JSON,
	KEY_NO_PAGER,
	KEY_COLOR,
};

/* Without a name it is a heading of the help. With an empty one @key is its only, short name. */
struct option_spec {
	const char *name;
	int key;
	const char *argument;  /* in brackets if optional */
	unsigned int commands; /* bits: 1 << enum command_id */
	const char *help;
};

extern const struct option_spec option_specs[];
extern const size_t n_option_specs;

/* Its name without the dashes. */
const char *option_name(const struct option_spec *spec);

/*
 * The first option with that key, and all commands that take it. The table has an option several
 * times if its help depends on the command.
 */
const struct option_spec *option_find(int key, unsigned int *ret_commands);

struct command_spec {
	const char *name;
	const char *usage;
	const char *help;
	int min_operands, max_operands;
	const char *operands, *example; /* for messages; NULL without operands */
};

extern const struct command_spec command_specs[N_COMMANDS];

#define OPTIONS_ALL_COMMANDS ((1u << N_COMMANDS) - 1)

/* Writes help on @command, or with N_COMMANDS on all, to stdout. */
void options_print_help(enum command_id command);
