/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cli/options-table.h"

#include <stdio.h>
#include <string.h>

#include "client/rpc/connection.h"
#include "common/util/macro.h"

#define TOP     (1u << COMMAND_TOP)
#define DUMP    (1u << COMMAND_DUMP)
#define WINDOWS (1u << COMMAND_WINDOWS)
#define DIFF    (1u << COMMAND_DIFF)
#define DATA    (TOP | DIFF | DUMP)
#define CODE    (1u << COMMAND_ANNOTATE)
#define ALL     OPTIONS_ALL_COMMANDS

const struct option_spec option_specs[] = {
	{ NULL, 0, NULL, TOP | DIFF, "What to show:" },
	{ "by", KEY_BY, "WHAT", TOP,
	  "function (default), stack, stream, branch, block, line,\nobject, process, unit" },
	{ "by", KEY_BY, "WHAT", DIFF,
	  "function (default), stream, block, line, object, process,\nunit" },
	{ "", KEY_ROWS, "N", TOP | DIFF, "the N hottest rows; 0 for all (default 20)" },
	{ "tree", KEY_TREE, "[=ORDER]", TOP,
	  "--by stack: as a tree, caller (default) or callee\nfirst" },
	{ "branch-kind", KEY_BRANCH_KIND, "KIND", TOP,
	  "--by branch: cond, jmp, ind_jmp, call, ind_call, ret,\nany_call, any_ret, several with "
	  "commas" },
	{ "mispredicted", KEY_MISPREDICTED, NULL, TOP,
	  "--by branch: those that were, surest first" },
	{ "once", KEY_ONCE, NULL, TOP, "a table, on a terminal too, and no live view" },

	{ "percent-limit", KEY_PERCENT_LIMIT, "P", DIFF, "rows of P % and more in either window" },
	{ "all", KEY_ALL, NULL, DIFF, "all rows, however small or within noise" },

	{ NULL, 0, NULL, DIFF, "What was changed between:" },
	{ "before", KEY_BEFORE, "DIR", DIFF, "the sources of the old one" },
	{ "after", KEY_AFTER, "DIR", DIFF, "the sources of the new one" },
	{ "changed-func", KEY_CHANGED_FUNC, "NAME", DIFF,
	  "a function that was changed; may be given again" },

	{ NULL, 0, NULL, CODE, "What to show:" },
	{ "source", KEY_SOURCE, NULL, CODE, "source lines between the instructions" },

	{ NULL, 0, NULL, DUMP, "What to write:" },
	{ "format", KEY_FORMAT, "FORMAT", DUMP, "text (default) or json" },
	{ "samples", KEY_SAMPLES, NULL, DUMP, "each sample with its stack, as perf script does" },

	{ NULL, 0, NULL, WINDOWS, "Which windows:" },
	{ "since", KEY_SINCE, "TIME", WINDOWS, "those that end after it" },
	{ "until", KEY_UNTIL, "TIME", WINDOWS, "those that begin before it" },
	{ "follow", KEY_FOLLOW, NULL, WINDOWS, "go on with each window that closes" },

	{ NULL, 0, NULL, DATA | CODE, "Of what part:" },
	{ "pid", KEY_PID, "PID", DATA | CODE, "this process" },
	{ "comm", KEY_COMM, "NAME", DATA | CODE, "processes of this name" },
	{ "unit", KEY_UNIT, "UNIT", DATA | CODE, "processes of this systemd unit" },
	{ "uid", KEY_UID, "UID", DATA | CODE, "processes of this user (a number)" },
	{ "object", KEY_OBJECT, "PATH", DATA | CODE,
	  "what was sampled in this file; its name is enough" },
	{ "symbol", KEY_SYMBOL, "NAME", DATA, "what was sampled in this function" },

	{ NULL, 0, NULL, DATA | CODE, "Reading a recording:" },
	{ "event", KEY_EVENT, "NAME", DATA | CODE, "the event to count, where there are several" },
	{ "force", KEY_FORCE, NULL, DATA | CODE, "use what is sound of a damaged recording" },
	{ "symfs", KEY_SYMFS, "DIR", DATA | CODE, "look for programs and libraries below DIR" },
	{ "debug-dir", KEY_DEBUG_DIR, "DIR", DATA | CODE,
	  "look for separate debug files in DIR, too" },
	{ "kallsyms", KEY_KALLSYMS, "FILE", DATA | CODE, "the kernel's symbols" },
	{ "no-stitch", KEY_NO_STITCH, NULL, TOP | DUMP,
	  "call stacks by the rows of each sample alone" },
	{ "inline", KEY_INLINE, NULL, DATA,
	  "show inlined calls and source lines (takes its time)" },

	{ NULL, 0, NULL, ALL, "In general:" },
	{ "socket", KEY_SOCKET, "PATH", ALL, "the daemon's (" CONNECTION_DEFAULT_PATH ")" },
	{ "json", KEY_JSON, NULL, ALL, "JSON for scripts" },
	{ "no-pager", KEY_NO_PAGER, NULL, ALL, "straight to the terminal" },
	{ "color", KEY_COLOR, "WHEN", ALL, "auto (default), always, never" },
	{ "help", KEY_HELP, NULL, ALL, "this help, or that of the command given" },
	{ "version", KEY_VERSION, NULL, ALL, "the version" },
};

const size_t n_option_specs = ARRAY_SIZE(option_specs);

const struct option_spec *option_find(int key, unsigned int *ret_commands)
{
	const struct option_spec *found = NULL;

	*ret_commands = 0;
	for (size_t i = 0; i < n_option_specs; i++)
		if (option_specs[i].key == key) {
			found = found ?: &option_specs[i];
			*ret_commands |= option_specs[i].commands;
		}
	return found;
}

const struct command_spec command_specs[N_COMMANDS] = {
	[COMMAND_STATUS] = { "status", "status", "what branchd samples, how, at what cost", 0, 0,
			     NULL, NULL },
	[COMMAND_WINDOWS] = { "windows", "windows [--since TIME] [--until TIME]",
			      "the windows there are", 0, 0, NULL, NULL },
	[COMMAND_TOP] = { "top", "top [WINDOW] [--by WHAT] [-n N]", "what is hot, hottest first", 0,
			  1, "one WINDOW", NULL },
	[COMMAND_DIFF] = { "diff", "diff WINDOW WINDOW [--by WHAT] [-n N]",
			   "what moved from one to the other", 2, 2, "two WINDOWs",
			   "diff yesterday-10:00 10:00" },
	[COMMAND_ANNOTATE] = { "annotate", "annotate SYMBOL [WINDOW] [--source]",
			       "how often each instruction ran", 1, 2, "a SYMBOL and one WINDOW",
			       "annotate main -5min" },
	[COMMAND_DUMP] = { "dump", "dump [WINDOW] [--format F] [--samples]",
			   "everything that is known", 0, 1, "one WINDOW", NULL },
};

static void print_options(unsigned int mask)
{
	for (size_t i = 0; i < n_option_specs; i++) {
		const struct option_spec *spec = &option_specs[i];
		const char *rest = strchr(spec->help, '\n');
		char left[64];

		if (!(spec->commands & mask))
			continue;
		if (!spec->name) {
			printf("\n%s\n", spec->help);
			continue;
		}
		snprintf(left, sizeof(left), "%s%s%s%s", *spec->name ? "--" : "-",
			 *spec->name ? spec->name : "n",
			 spec->argument && *spec->argument != '[' ? " " : "", spec->argument ?: "");
		printf("  %-18s %.*s\n", left, rest ? (int)(rest - spec->help) : -1, spec->help);
		if (rest)
			printf("  %-18s %s\n", "", rest + 1);
	}
}

static void print_window_refs(void)
{
	puts("\nWINDOW is one of\n"
	     "  42                 the window with that id\n"
	     "  @0, @-1            the one still open, the last closed one\n"
	     "  -5min, 10:00, yesterday-10:00, '2026-11-20 10:00'\n"
	     "                     the one that holds that spec\n"
	     "  A..B               all from A to B, either of which may be left out\n"
	     "  PATH               a recording of perf record: a word with a '/', or that\n"
	     "                     ends in .data\n"
	     "Without it, it is the last five minutes.");
}

void options_print_help(enum command_id command)
{
	if (command < N_COMMANDS) {
		printf("branchctl %s [OPTION...]\n%s\n", command_specs[command].usage,
		       command_specs[command].help);
		print_options(1u << command);
		if (command_specs[command].max_operands > 0)
			print_window_refs();
		return;
	}
	puts("branchctl COMMAND [OPTION...]\n"
	     "Shows where the time goes: by function, path, branch and basic block.\n\n"
	     "Commands:");
	for (int i = 0; i < N_COMMANDS; i++)
		printf("  %-38s %s\n", command_specs[i].usage, command_specs[i].help);
	print_options(ALL);
	print_window_refs();
	puts("\nMore in branchctl(1).");
}
