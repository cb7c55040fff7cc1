/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cli/options/table.h"

#include <stdio.h>
#include <string.h>

#include "client/export/export.h"
#include "client/rpc/connection.h"
#include "common/util/macro.h"

#define TOP     (1u << COMMAND_TOP)
#define DUMP    (1u << COMMAND_DUMP)
#define WINDOWS (1u << COMMAND_WINDOWS)
#define DIFF    (1u << COMMAND_DIFF)
#define DATA    (TOP | DIFF | DUMP | EXPORT | FLAME)
#define EXPORT  (1u << COMMAND_EXPORT)
#define FLAME   (1u << COMMAND_FLAME)
#define CODE    (1u << COMMAND_ANNOTATE)
#define HISTORY (1u << COMMAND_HISTORY)
#define MARK    (1u << COMMAND_MARK)
#define RUN     (1u << COMMAND_RUN)
#define ALL     OPTIONS_ALL_COMMANDS
#define VACUUM  (1u << COMMAND_VACUUM)
#define VERIFY  (1u << COMMAND_VERIFY)
#define METRICS (1u << COMMAND_METRICS)
#define SPAN                                                                     \
	(ALL & ~(RUN | WINDOWS | VACUUM | VERIFY | METRICS |                     \
		 1u << COMMAND_STATUS)) /* one span of time, instead of a WINDOW \
					 */
#define TABLES                                      \
	(ALL & ~(EXPORT | FLAME | VACUUM | VERIFY | \
		 METRICS)) /* those whose output is for people, too */

const struct option_spec option_specs[] = {
	{ NULL, 0, NULL, TOP | DIFF, "What top and diff show:" },
	{ "by", KEY_BY, "WHAT", TOP,
	  "function, stack, stream, branch, branch-site, block, line,\nobject, process, unit, "
	  "comm, "
	  "container, user.\nDefault: function. Twice, as in --by function --by process:\nrows of "
	  "each." },
	{ "by", KEY_BY, "WHAT", DIFF,
	  "with diff: function, stream, block, line, object, process,\nunit, comm, container, "
	  "user, "
	  "or several, separated by\ncommas. Default: the largest of functions, streams "
	  "and\nblocks, "
	  "on one page." },
	{ "", KEY_ROWS, "N", TOP | DIFF,
	  "show the N hottest rows; 0 shows all. Default: 20, fewer on\na page of several kinds; "
	  "all with --json." },
	{ "tree", KEY_TREE, "[=ORDER]", TOP,
	  "with --by stack: show one tree, caller or callee first.\nDefault: caller." },
	{ "verbose", KEY_VERBOSE, NULL, TOP,
	  "with --by stack: show sizes of functions and whole paths" },
	{ "depth", KEY_DEPTH, "N", TOP | DIFF,
	  "with --by stream: show N frames, or full paths.\nDefault: until the paths fork." },
	{ "branch-kind", KEY_BRANCH_KIND, "KIND", TOP,
	  "with --by branch: cond, jmp, ind_jmp, call, ind_call, ret,\nany_call, any_ret, or "
	  "several, separated by commas" },
	{ "mispredicted", KEY_MISPREDICTED, NULL, TOP,
	  "with --by branch: mispredicted ones, most certain first; by\nfunctions, units and the "
	  "like: whose they are" },
	{ "level", KEY_LEVEL, "LEVEL", TOP,
	  "with --by branch: those to code of the user or the kernel" },
	{ "sort", KEY_SORT, "KEY", TOP,
	  "of functions, lines, objects: self or total; of branches:\ncount, mispredicted, cycles, "
	  "from or to; of streams: hits\nor average; of blocks: cycles, runs or average" },
	{ "once", KEY_ONCE, NULL, TOP,
	  "write a table on a terminal, too, instead of the live view" },
	{ "every", KEY_EVERY, "[=SPAN]", TOP,
	  "report what was sampled, again and again. Default: 5s." },
	{ "percent-limit", KEY_PERCENT_LIMIT, "P", TOP,
	  "hide functions, objects and the like with less than P %,\nand the stacks that end in "
	  "them" },

	{ "percent-limit", KEY_PERCENT_LIMIT, "P", DIFF,
	  "hide rows with less than P % on both sides" },
	{ "all", KEY_ALL, NULL, DIFF, "show all rows, however small or within noise" },
	{ "find-change", KEY_FIND_CHANGE, NULL, DIFF,
	  "with one WINDOW, or --since: show which functions changed\nin it, and when" },

	{ NULL, 0, NULL, DIFF, "What counts as changed in diff:" },
	{ "before", KEY_BEFORE, "DIR", DIFF, "the directory of the old sources" },
	{ "after", KEY_AFTER, "DIR", DIFF, "the directory of the new sources" },
	{ "changed-func", KEY_CHANGED_FUNC, "NAME", DIFF,
	  "treat this function as changed; may be repeated" },

	{ NULL, 0, NULL, RUN, "What run reports:" },
	{ "", KEY_ROWS, "N", RUN,
	  "show the N hottest rows of each kind; 0 shows all.\nDefault: 10." },
	{ "self", KEY_SELF, NULL, RUN,
	  "sample without the daemon: user code alone, but more often" },
	{ "every", KEY_EVERY, "[=SPAN]", RUN,
	  "report what was sampled meanwhile, too. Default: 5s." },
	{ "", KEY_OUTPUT, "FILE", RUN,
	  "write the report to FILE. Default: stdout if it is a\nterminal, else stderr." },

	{ NULL, 0, NULL, CODE, "What annotate shows:" },
	{ "", KEY_ROWS, "N", CODE,
	  "without SYMBOL: show the N hottest functions; 0 shows all.\nDefault: 5." },
	{ "source", KEY_SOURCE, NULL, CODE, "show source lines between the instructions" },
	{ "att", KEY_ATT, NULL, CODE, "show instructions of x86 as AT&T does, the source first" },

	{ NULL, 0, NULL, DUMP, "What dump writes:" },
	{ "format", KEY_FORMAT, "FORMAT", DUMP, "text or json. Default: text." },
	{ "samples", KEY_SAMPLES, NULL, DUMP,
	  "write each sample with its stack, as perf script does" },
	{ "branches", KEY_BRANCHES, NULL, DUMP, "with --samples: write branch records, too" },

	{ NULL, 0, NULL, EXPORT, "What export writes:" },
	{ "format", KEY_FORMAT, "FORMAT", EXPORT, "the format: the list at the end of this help" },
	{ "", KEY_OUTPUT, "FILE", EXPORT,
	  "write this file, whole or not at all. Default: stdout." },

	{ NULL, 0, NULL, FLAME, "What flame writes:" },
	{ "diff", KEY_DIFF, "WINDOW", FLAME, "show what differs in this WINDOW from the first" },
	{ "format", KEY_FORMAT, "FORMAT", FLAME, "html, or svg for documents. Default: html." },
	{ "", KEY_OUTPUT, "FILE", FLAME,
	  "write this file, - for stdout. Default: flame.html, or\nflame.svg." },
	{ "open", KEY_OPEN, NULL, FLAME, "show the file with xdg-open" },

	{ NULL, 0, NULL, METRICS, "What metrics writes:" },
	{ "", KEY_ROWS, "N", METRICS, "the shares of the N hottest functions. Default: 10." },
	{ "format", KEY_FORMAT, "FORMAT", METRICS,
	  "openmetrics; or prometheus, which node_exporter reads.\nDefault: openmetrics." },
	{ "", KEY_OUTPUT, "FILE", METRICS,
	  "write this file, whole or not at all. Default: stdout." },

	{ NULL, 0, NULL, MARK, "What mark does instead of naming windows:" },
	{ "list", KEY_LIST, NULL, MARK, "list the marks" },
	{ "delete", KEY_DELETE, NULL, MARK, "remove the mark NAME; its windows may go then" },

	{ NULL, 0, NULL, VACUUM, "What vacuum removes (at least one is given):" },
	{ "size", KEY_SIZE, "BYTES", VACUUM,
	  "the oldest windows, until the database has no more in use;\nwith K, M, G or T of 1024" },
	{ "time", KEY_TIME, "SPAN", VACUUM,
	  "windows that ended longer before the newest, as in 2weeks" },

	{ NULL, 0, NULL, WINDOWS | SPAN, "Which windows:" },
	{ "since", KEY_SINCE, "TIME", WINDOWS | SPAN, "only windows that end after TIME" },
	{ "until", KEY_UNTIL, "TIME", WINDOWS | SPAN, "only windows that start before TIME" },
	{ "follow", KEY_FOLLOW, NULL, WINDOWS, "continue with each window that closes" },
	{ "", KEY_ROWS, "N", WINDOWS, "only the last N windows; 0 shows all. Default: all." },

	{ NULL, 0, NULL, HISTORY, "What history shows:" },
	{ "", KEY_ROWS, "N", HISTORY, "at most N points of time; 0: 200. Default: 24." },

	{ NULL, 0, NULL, DATA | CODE | HISTORY,
	  "Filters (each a list such as a,b; names may be patterns such as 'sql*'):" },
	{ "pid", KEY_PID, "PID", DATA | CODE | HISTORY, "only this process" },
	{ "comm", KEY_COMM, "NAME", DATA | CODE | HISTORY, "only processes with this name" },
	{ "exclude-comm", KEY_EXCLUDE_COMM, "NAME", DATA | CODE | HISTORY,
	  "no processes with this name" },
	{ "unit", KEY_UNIT, "UNIT", DATA | CODE | HISTORY, "only processes of this systemd unit" },
	{ "container", KEY_CONTAINER, "ID", DATA | CODE | HISTORY,
	  "only this container, or this pod: the begin of its id" },
	{ "uid", KEY_UID, "UID", DATA | CODE | HISTORY,
	  "only processes of this user (a name or a number)" },
	{ "object", KEY_OBJECT, "PATH", DATA | CODE | HISTORY,
	  "only what was sampled in this file; its name suffices" },
	{ "symbol", KEY_SYMBOL, "NAME", DATA, "only what was sampled in this function" },

	{ NULL, 0, NULL, DATA | CODE, "Reading a recording:" },
	{ "event", KEY_EVENT, "NAME", DATA | CODE,
	  "count this event. Default: the first. With top and diff it\nmay be repeated: one after "
	  "the "
	  "other." },
	{ "force", KEY_FORCE, NULL, DATA | CODE, "use a damaged recording up to the damage" },
	{ "symfs", KEY_SYMFS, "DIR", DATA | CODE, "look for programs and libraries below DIR" },
	{ "debug-dir", KEY_DEBUG_DIR, "DIR", DATA | CODE,
	  "look for separate debug files in DIR first" },
	{ "kallsyms", KEY_KALLSYMS, "FILE", DATA | CODE,
	  "the kernel's symbols: a copy of /proc/kallsyms" },
	{ "no-stitch", KEY_NO_STITCH, NULL, TOP | DUMP | EXPORT | FLAME,
	  "take stacks only from the records of each sample" },
	{ "inline", KEY_INLINE, NULL, DATA, "show inlined calls and source lines (slow)" },

	{ NULL, 0, NULL, ALL, "General:" },
	{ "socket", KEY_SOCKET, "PATH", ALL,
	  "the daemon's socket.\nDefault: " CONNECTION_DEFAULT_PATH "." },
	{ "", KEY_HOST, "HOST", ALL & ~RUN,
	  "ask the daemon of [USER@]HOST by ssh. Twice, before each\nWINDOW, to compare two "
	  "machines; . is this one." },
	{ "host-list", KEY_HOST_LIST, "FILE", TOP,
	  "ask the hosts that FILE lists, one a line, all at once, and\nadd up what they counted" },
	{ "host-timeout", KEY_HOST_TIMEOUT, "SPAN", TOP,
	  "leave out hosts that take longer. Default: 30s." },
	{ "cluster", KEY_CLUSTER, "URL", TOP | DIFF | HISTORY,
	  "ask the ClickHouse server to which branchd-ship sends" },
	{ "host", KEY_OF_HOST, "NAME", TOP | DIFF | HISTORY,
	  "with --cluster: only these hosts (a list, or patterns)" },
	{ "build-id", KEY_BUILD_ID, "HEX", TOP | HISTORY,
	  "with --cluster: only hosts, while they ran this build" },
	{ "build-id", KEY_BUILD_ID, "HEX", DIFF,
	  "with --cluster: only hosts, while they ran this build.\nTwice: the old and the new one, "
	  "of one WINDOW or two" },
	{ "json", KEY_JSON, NULL, (TABLES & ~RUN) | VACUUM | VERIFY, "write JSON for scripts" },
	{ "no-pager", KEY_NO_PAGER, NULL, TABLES, "write to the terminal directly" },
	{ "color", KEY_COLOR, "WHEN", TABLES, "auto, always or never. Default: auto." },
	{ "help", KEY_HELP, NULL, ALL, "print help and exit; after a command, its own help" },
	{ "version", KEY_VERSION, NULL, ALL, "print the version and exit" },
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
	[COMMAND_STATUS] = { "status", "status", "Shows how branchd samples, at what cost", 0, 0,
			     NULL, NULL },
	[COMMAND_WINDOWS] = { "windows", "windows [--since TIME] [--until TIME]",
			      "Lists the windows", 0, 0, NULL, NULL },
	[COMMAND_TOP] = { "top", "top [WINDOW] [--by WHAT] [-n N]",
			  "Shows what is hot, the hottest first", 0, 1, "one WINDOW", NULL },
	[COMMAND_DIFF] = { "diff", "diff WINDOW WINDOW [--by WHAT] [-n N]",
			   "Shows what moved from one to the other", 2, 2, "two WINDOWs",
			   "diff yesterday-10:00 10:00" },
	[COMMAND_ANNOTATE] = { "annotate", "annotate [SYMBOL] [WINDOW] [--source]",
			       "Shows how often each instruction ran", 0, 2,
			       "at most a SYMBOL and one WINDOW", NULL },
	[COMMAND_DUMP] = { "dump", "dump [WINDOW] [--format F] [--samples]",
			   "Writes everything that was counted", 0, 1, "one WINDOW", NULL },
	[COMMAND_RUN] = { "run", "run [OPTION...] -- COMMAND [ARG...]", "Profiles one command", 0,
			  0, NULL, NULL },
	[COMMAND_HISTORY] = { "history", "history [SYMBOL] [WINDOW] [--unit U]",
			      "Shows a share over time, and changes", 0, 2,
			      "at most a SYMBOL and one WINDOW", NULL },
	[COMMAND_MARK] = { "mark", "mark [--delete] NAME [WINDOW] | --list",
			   "Names windows and keeps them", 0, 2, "a NAME and one WINDOW",
			   "mark before-deploy -10min" },
	[COMMAND_VACUUM] = { "vacuum", "vacuum --size BYTES | --time SPAN",
			     "Removes old windows at once", 0, 0, NULL, NULL },
	[COMMAND_VERIFY] = { "verify", "verify", "Looks for damage in the database", 0, 0, NULL,
			     NULL },
	[COMMAND_METRICS] = { "metrics", "metrics [--format F] [-n N] [-o FILE]",
			      "Writes counters for Prometheus", 0, 0, NULL, NULL },
	[COMMAND_EXPORT] = { "export", "export --format F [WINDOW] [-o FILE]",
			     "Writes a file for another tool", 0, 1, "one WINDOW", NULL },
	[COMMAND_FLAME] = { "flame", "flame [WINDOW] [--diff WINDOW] [-o F]",
			    "Draws a flame graph for a browser", 0, 1, "one WINDOW", NULL },
};

const char *option_name(const struct option_spec *spec)
{
	if (*spec->name)
		return spec->name;
	return spec->key == KEY_ROWS ? "n" : spec->key == KEY_HOST ? "H" : "o";
}

/* @left, and the lines of @help in a column beside it, or below what is wider. */
static void print_option(const char *left, const char *help)
{
	if (strlen(left) > 18) {
		printf("  %s\n", left);
		left = "";
	}
	for (const char *end; help; left = "", help = end ? end + 1 : NULL) {
		end = strchr(help, '\n');
		printf("  %-18s %.*s\n", left, end ? (int)(end - help) : -1, help);
	}
}

static void print_options(unsigned int mask)
{
	for (size_t i = 0; i < n_option_specs; i++) {
		const struct option_spec *spec = &option_specs[i];
		const char short_form[] = { '-', (char)spec->key, ',', ' ', '\0' };
		char left[64];

		if (!(spec->commands & mask))
			continue;
		if (!spec->name) {
			printf("\n%s\n", spec->help);
			continue;
		}
		snprintf(left, sizeof(left), "%s%s%s%s%s",
			 *spec->name && spec->key < 128 ? short_form : "", *spec->name ? "--" : "-",
			 option_name(spec), spec->argument && *spec->argument != '[' ? " " : "",
			 spec->argument ?: "");
		print_option(left, spec->help);
	}
}

static void print_window_refs(enum command_id command)
{
	printf("\nWINDOW is one of the following. Default: %s.\n",
	       command == COMMAND_HISTORY ? "the last day" : "the last five minutes");
	puts("  42                 the window with that id\n"
	     "  @0, @-1            the open window, the last closed one\n"
	     "  -5min, 10:00, yesterday, '2026-11-20 10:00'\n"
	     "                     the windows of the last five minutes, that minute, that day\n"
	     "  NAME               the windows that branchctl mark NAME named\n"
	     "  A..B               all windows from A to B; either may be left out\n"
	     "  FILE               a recording of perf record: a word that contains a '/' or\n"
	     "                     ends in .data");
}

static void print_formats(void)
{
	puts("\nFORMAT is one of");
	for (size_t i = 0; i < n_export_formats; i++)
		printf("  %-18s %s%s\n", export_formats[i].name, export_formats[i].what,
		       export_formats[i].needs_branches ? " (branch records)" : "");
}

void options_print_help(enum command_id command)
{
	static char room[16384]; /* for all of it: stdio keeps the errno of the last write alone */

	setvbuf(stdout, room, _IOFBF, sizeof(room));
	if (command < N_COMMANDS) {
		printf("branchctl %s%s\n%s\n", command_specs[command].usage,
		       command == COMMAND_RUN ? "" : " [OPTION...]", command_specs[command].help);
		print_options(1u << command);
		if (command == COMMAND_EXPORT)
			print_formats();
		if (command_specs[command].max_operands > 0)
			print_window_refs(command);
		return;
	}
	puts("branchctl COMMAND [OPTION...]\n"
	     "Shows where the time goes: by function, path, branch and basic block.\n\n"
	     "Commands:");
	for (int i = 0; i < N_COMMANDS; i++)
		printf("  %-38s %s\n", command_specs[i].usage, command_specs[i].help);
	print_options(ALL);
	print_window_refs(command);
	puts("\nMore in branchctl(1).");
}
