/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table below is all there is to know of an option: how it is called, with what argument, for
 * which commands, and what help says of it. getopt_long() does the reading.
 */
#include "client/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/macro.h"

enum key {
	KEY_ROWS = 'n',
	KEY_HELP = 'h',
	KEY_BY = 256,
	KEY_FORMAT,
	KEY_SAMPLES,
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
	KEY_JSON,
	KEY_NO_PAGER,
	KEY_COLOR,
	KEY_VERSION,
};

#define TOP  (1u << OPTIONS_TOP)
#define DUMP (1u << OPTIONS_DUMP)
#define ALL  (TOP | DUMP)

/* A line of help without a name is a heading. */
static const struct spec {
	const char *name;
	int key;
	const char *argument;
	unsigned int commands;
	const char *help;
} specs[] = {
	{ NULL, 0, NULL, TOP, "What to show:" },
	{ "by", KEY_BY, "WHAT", TOP,
	  "function (default), stack, branch, block, line, object,\nprocess, unit" },
	{ "", KEY_ROWS, "N", TOP, "the N hottest rows; 0 for all (default 20)" },

	{ NULL, 0, NULL, DUMP, "What to write:" },
	{ "format", KEY_FORMAT, "FORMAT", DUMP, "text (default) or json" },
	{ "samples", KEY_SAMPLES, NULL, DUMP, "each sample with its stack, as perf script does" },

	{ NULL, 0, NULL, ALL, "Of what part:" },
	{ "pid", KEY_PID, "PID", ALL, "this process" },
	{ "comm", KEY_COMM, "NAME", ALL, "processes of this name" },
	{ "unit", KEY_UNIT, "UNIT", ALL, "processes of this systemd unit" },
	{ "uid", KEY_UID, "UID", ALL, "processes of this user (a number)" },
	{ "object", KEY_OBJECT, "PATH", ALL, "what was sampled in this file; its name is enough" },
	{ "symbol", KEY_SYMBOL, "NAME", ALL, "what was sampled in this function" },

	{ NULL, 0, NULL, ALL, "Reading a recording:" },
	{ "event", KEY_EVENT, "NAME", ALL, "the event to count, where there are several" },
	{ "force", KEY_FORCE, NULL, ALL, "use what a damaged recording holds before the damage" },
	{ "symfs", KEY_SYMFS, "DIR", ALL, "look for programs and libraries below DIR" },
	{ "debug-dir", KEY_DEBUG_DIR, "DIR", ALL, "look for separate debug files in DIR, too" },
	{ "kallsyms", KEY_KALLSYMS, "FILE", ALL, "the kernel's symbols" },
	{ "inline", KEY_INLINE, NULL, ALL, "show inlined calls and source lines (takes its time)" },

	{ NULL, 0, NULL, ALL, "Output:" },
	{ "json", KEY_JSON, NULL, ALL, "JSON for scripts" },
	{ "no-pager", KEY_NO_PAGER, NULL, ALL, "straight to the terminal" },
	{ "color", KEY_COLOR, "WHEN", ALL, "auto (default), always, never" },
	{ "help", KEY_HELP, NULL, ALL, "this help, or that of the command given" },
	{ "version", KEY_VERSION, NULL, ALL, "the version" },
};

static const struct {
	const char *name;
	const char *usage;
	const char *help;
} commands[OPTIONS_N_COMMANDS] = {
	[OPTIONS_TOP] = { "top", "top FILE [--by WHAT] [-n N]", "what is hot, hottest first" },
	[OPTIONS_DUMP] = { "dump", "dump FILE [--format FORMAT] [--samples]",
			   "everything that is known" },
};

/* What was read, before anything is known of the command. */
struct parse {
	struct options options;
	struct fault *fault;
	unsigned int commands; /* those that take all options so far */
	const char *refused;   /* name of the option that took away the last of them */
	bool by_given, format_given, help, version;
};

static int wrong(struct parse *parse, const char *option, const char *argument, const char *want)
{
	return fault_set(parse->fault, -EINVAL, "%s '%s': give %s", option, argument, want);
}

static int parse_number(struct parse *parse, const char *option, const char *argument, uint64_t max,
			uint64_t *ret)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(argument, &end, 10);
	if (*argument < '0' || *argument > '9' || *end != '\0' || errno != 0 || n > max)
		return wrong(parse, option, argument, "a number");
	*ret = n;
	return 0;
}

static int parse_id(struct parse *parse, const char *option, const char *argument, uint64_t max,
		    int64_t *ret)
{
	uint64_t n;
	int r = parse_number(parse, option, argument, max, &n);

	if (r >= 0)
		*ret = (int64_t)n;
	return r;
}

static int parse_rows(struct parse *parse, const char *argument)
{
	uint64_t n;
	int r = parse_number(parse, "-n", argument, SIZE_MAX, &n);

	if (r >= 0)
		parse->options.n_rows = (size_t)n;
	return r;
}

static int parse_by(struct parse *parse, const char *argument)
{
	parse->by_given = true;
	if (view_parse(&parse->options.by, argument) < 0)
		return wrong(parse, "--by", argument,
			     "one of function, stack, branch, block, line, object, process, unit");
	return 0;
}

static int parse_format(struct parse *parse, const char *argument)
{
	parse->format_given = true;
	if (strcmp(argument, "json") == 0)
		parse->options.json = true;
	else if (strcmp(argument, "text") == 0)
		parse->options.json = false;
	else
		return wrong(parse, "--format", argument, "text or json");
	return 0;
}

static int apply_filter(struct parse *parse, int key, const char *argument)
{
	struct profile_filter *filter = &parse->options.filter;

	switch (key) {
	case KEY_PID:
		return parse_id(parse, "--pid", argument, INT32_MAX, &filter->pid);
	case KEY_UID:
		return parse_id(parse, "--uid", argument, UINT32_MAX - 1, &filter->uid);
	case KEY_COMM:
		filter->comm = argument;
		return 0;
	case KEY_UNIT:
		filter->unit = argument;
		return 0;
	case KEY_OBJECT:
		filter->object = argument;
		return 0;
	case KEY_SYMBOL:
		filter->symbol = argument;
		return 0;
	}
	return -ENOENT;
}

static int apply_reading(struct options *options, int key, const char *argument)
{
	switch (key) {
	case KEY_EVENT:
		options->event = argument;
		return 0;
	case KEY_FORCE:
		options->force = true;
		return 0;
	case KEY_SYMFS:
		options->symbols.symfs = argument;
		return 0;
	case KEY_DEBUG_DIR:
		options->symbols.debug_dir = argument;
		return 0;
	case KEY_KALLSYMS:
		options->symbols.kallsyms = argument;
		return 0;
	case KEY_INLINE:
		options->inlined = true;
		return 0;
	}
	return -ENOENT;
}

static int apply_output(struct parse *parse, int key, const char *argument)
{
	struct options *options = &parse->options;

	switch (key) {
	case KEY_BY:
		return parse_by(parse, argument);
	case KEY_ROWS:
		return parse_rows(parse, argument);
	case KEY_FORMAT:
		return parse_format(parse, argument);
	case KEY_SAMPLES:
		options->samples = true;
		return 0;
	case KEY_JSON:
		options->json = true;
		return 0;
	case KEY_NO_PAGER:
		options->no_pager = true;
		return 0;
	case KEY_COLOR:
		if (color_parse(&options->color, argument) < 0)
			return wrong(parse, "--color", argument, "auto, always or never");
		return 0;
	case KEY_HELP:
		parse->help = true;
		return 0;
	case KEY_VERSION:
		parse->version = true;
		return 0;
	}
	return -ENOENT;
}

static const struct spec *find_spec(int key)
{
	for (size_t i = 0; i < ARRAY_SIZE(specs); i++)
		if (specs[i].key == key)
			return &specs[i];
	return NULL;
}

static int apply(struct parse *parse, int key, const char *argument)
{
	const struct spec *spec = find_spec(key);
	int r;

	if (parse->commands & ~spec->commands)
		parse->refused = *spec->name ? spec->name : "n";
	parse->commands &= spec->commands;
	r = apply_filter(parse, key, argument);
	if (r == -ENOENT)
		r = apply_reading(&parse->options, key, argument);
	if (r == -ENOENT)
		r = apply_output(parse, key, argument);
	return r;
}

static void fill_getopt(struct option *options)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++)
		if (specs[i].name && *specs[i].name)
			options[n++] = (struct option){
				.name = specs[i].name,
				.has_arg = specs[i].argument ? required_argument : no_argument,
				.val = specs[i].key,
			};
}

static int read_options(struct parse *parse, int argc, char **argv)
{
	struct option options[ARRAY_SIZE(specs) + 1] = {};
	int key, r = 0;

	fill_getopt(options);
	opterr = 0;
	while (r >= 0 && (key = getopt_long(argc, argv, ":n:h", options, NULL)) != -1)
		if (key == ':')
			r = fault_set(parse->fault, -EINVAL, "%s wants an argument; see --help",
				      argv[optind - 1]);
		else if (key == '?' && optopt > 255)
			r = fault_set(parse->fault, -EINVAL, "%s takes no argument; see --help",
				      argv[optind - 1]);
		else if (key == '?' && optopt != 0)
			r = fault_set(parse->fault, -EINVAL,
				      "there is no option -%c; --help lists those there are",
				      optopt);
		else if (key == '?')
			r = fault_set(parse->fault, -EINVAL,
				      "there is no option %s; --help lists those there are",
				      argv[optind - 1]);
		else
			r = apply(parse, key, optarg);
	return r;
}

static int read_command(struct parse *parse, const char *word)
{
	for (int i = 0; i < OPTIONS_N_COMMANDS; i++)
		if (strcmp(word, commands[i].name) == 0) {
			parse->options.command = (enum options_command)i;
			return 0;
		}
	return fault_set(parse->fault, -EINVAL,
			 "there is no command '%s'; branchctl --help lists those there are", word);
}

static int check(struct parse *parse, int n_operands)
{
	const struct options *options = &parse->options;
	const char *name = commands[options->command].name;

	if (!(parse->commands & 1u << options->command))
		return fault_set(parse->fault, -EINVAL, "%s takes no %s%s; see branchctl %s --help",
				 name, strlen(parse->refused) > 1 ? "--" : "-", parse->refused,
				 name);
	if (n_operands > 1)
		return fault_set(parse->fault, -EINVAL, "%s takes one FILE, not %d", name,
				 n_operands);
	if (options->samples && (options->json || parse->format_given))
		return fault_set(parse->fault, -EINVAL,
				 "dump --samples writes text of one kind: leave out %s",
				 parse->format_given ? "--format" : "--json");
	if (options->command == OPTIONS_DUMP && options->inlined && !options->samples)
		return fault_set(parse->fault, -EINVAL, "dump takes --inline with --samples only");
	return 0;
}

static void print_options(unsigned int mask)
{
	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		const struct spec *spec = &specs[i];
		const char *rest = strchr(spec->help, '\n');
		char left[64];

		if (!(spec->commands & mask))
			continue;
		if (!spec->name) {
			printf("\n%s\n", spec->help);
			continue;
		}
		snprintf(left, sizeof(left), "%s%s%s%s", *spec->name ? "--" : "-",
			 *spec->name ? spec->name : "n", spec->argument ? " " : "",
			 spec->argument ?: "");
		printf("  %-18s %.*s\n", left, rest ? (int)(rest - spec->help) : -1, spec->help);
		if (rest)
			printf("  %-18s %s\n", "", rest + 1);
	}
}

static void print_help(const struct parse *parse, bool has_command)
{
	if (has_command) {
		enum options_command command = parse->options.command;

		printf("branchctl %s [OPTION...]\n%s\n", commands[command].usage,
		       commands[command].help);
		print_options(1u << command);
		return;
	}
	puts("branchctl COMMAND [OPTION...]\n"
	     "Shows where the time goes: by function, path, branch and basic block.\n\n"
	     "Commands:");
	for (int i = 0; i < OPTIONS_N_COMMANDS; i++)
		printf("  %-42s %s\n", commands[i].usage, commands[i].help);
	print_options(ALL);
	puts("\nFILE is a recording of perf record: a word with a '/', or that ends in .data.\n"
	     "More in branchctl(1).");
}

static int read_operands(struct parse *parse, char **operands, int n)
{
	int r;

	if (parse->version) {
		puts("branchctl " BRANCHD_VERSION);
		return 0;
	}
	if (n > 0) {
		r = read_command(parse, operands[0]);
		if (r < 0)
			return r;
	}
	if (parse->help) {
		print_help(parse, n > 0);
		return 0;
	}
	if (n == 0)
		return fault_set(parse->fault, -EINVAL,
				 "give a command: branchctl top FILE; --help lists them");
	r = check(parse, n - 1);
	if (r < 0)
		return r;
	parse->options.window = n > 1 ? operands[1] : NULL;
	return 1;
}

int options_parse(struct options *ret, int argc, char **argv, struct fault *fault)
{
	struct parse parse = {
		.options = { .n_rows = OPTIONS_DEFAULT_ROWS, .filter = PROFILE_FILTER_INIT },
		.fault = fault,
		.commands = ALL,
	};
	int r;

	r = read_options(&parse, argc, argv);
	if (r >= 0)
		r = read_operands(&parse, argv + optind, argc - optind);
	if (r > 0)
		*ret = parse.options;
	return r;
}
