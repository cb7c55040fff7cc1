/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All there is to know of an option: how it is called, with what argument, for which commands, and
 * what help says of it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/cli/command-id.h"

enum option_key {
	KEY_ROWS = 'n',
	KEY_HELP = 'h',
	KEY_BY = 256,
	KEY_TREE,
	KEY_BRANCH_KIND,
	KEY_MISPREDICTED,
	KEY_ONCE,
	KEY_ALL,
	KEY_PERCENT_LIMIT,
	KEY_BEFORE,
	KEY_AFTER,
	KEY_CHANGED_FUNC,
	KEY_SOURCE,
	KEY_FORMAT,
	KEY_SAMPLES,
	KEY_SINCE,
	KEY_UNTIL,
	KEY_FOLLOW,
	KEY_PID,
	KEY_COMM,
	KEY_UNIT,
	KEY_UID,
	KEY_OBJECT,
	KEY_SYMBOL,
	KEY_FORCE,
	KEY_EVENT,
	KEY_SYMFS,
	KEY_DEBUG_DIR,
	KEY_KALLSYMS,
	KEY_INLINE,
	KEY_NO_STITCH,
	KEY_SOCKET,
	KEY_JSON,
	KEY_NO_PAGER,
	KEY_COLOR,
	KEY_VERSION,
};

/* A line of help without a name is a heading; of an empty one only the short name @key exists. */
struct option_spec {
	const char *name;
	int key;
	const char *argument;  /* in brackets where it may be left out */
	unsigned int commands; /* bits: 1 << enum command_id */
	const char *help;
};

extern const struct option_spec option_specs[];
extern const size_t n_option_specs;

/* The option, and all commands that take it: one that several take, in their own ways, is there
 * several times. */
const struct option_spec *option_find(int key, unsigned int *ret_commands);

struct command_spec {
	const char *name;
	const char *usage;
	const char *help;
	int min_operands, max_operands;
	const char *operands, *example; /* in a sentence, where it takes any */
};

extern const struct command_spec command_specs[N_COMMANDS];

#define OPTIONS_ALL_COMMANDS ((1u << N_COMMANDS) - 1)

/* Help on @command, or, where that is N_COMMANDS, on all. To stdout. */
void options_print_help(enum command_id command);
