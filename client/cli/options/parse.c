/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * table.c has the table, getopt_long() reads the words. The '-' below makes it return
 * operands like options, because a word such as "-5min" is a time and not an option.
 */
#include "client/cli/options/parse.h"

#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/options/check.h"
#include "client/cli/options/cluster.h"
#include "client/cli/options/every.h"
#include "client/cli/options/filter.h"
#include "client/cli/options/host.h"
#include "client/cli/options/table.h"
#include "client/cli/options/value.h"
#include "client/rpc/connection.h"
#include "client/source/window-ref.h"
#include "common/util/clock.h"
#include "common/util/macro.h"

static int parse_rows(struct command_line *parse, const char *argument)
{
	uint64_t n;
	int r = options_parse_number("-n", argument, SIZE_MAX, &n, parse->fault);

	if (r < 0)
		return r;
	parse->options.top.n_rows = (size_t)n;
	parse->options.rows_given = true;
	return 0;
}

/* The valid arguments depend on the command. */
static void parse_by(struct command_line *parse, const char *argument)
{
	struct options *options = &parse->options;

	if (options->by_given && !parse->owner) {
		parse->owner = argument;
		return;
	}
	parse->n_by += options->by_given;
	options->by_given = true;
	parse->by = argument;
	options->n_views = options_parse_views(argument, options->views);
	if (options->n_views > 0)
		options->top.by = options->views[0];
}

static int add_event(struct command_line *parse, const char *name)
{
	struct options *options = &parse->options;

	if (options->n_events == OPTIONS_MAX_EVENTS)
		return fault_set(parse->fault, -EINVAL, "--event: at most %d events",
				 OPTIONS_MAX_EVENTS);
	options->events[options->n_events++] = name;
	options->source.event = options->events[0];
	options->source.no_others = options->n_events > 1;
	return 0;
}

static int apply_reading(struct command_line *parse, int key, const char *argument)
{
	struct options *options = &parse->options;
	struct profile_source_settings *source = &options->source;

	switch (key) {
	case KEY_EVENT:
		return add_event(parse, argument);
	case KEY_FORCE:
		source->force = true;
		return 0;
	case KEY_SYMFS:
		return options_parse_directory("--symfs", argument, &source->symbols.symfs,
					       parse->fault);
	case KEY_DEBUG_DIR:
		return options_parse_directory("--debug-dir", argument, &source->symbols.debug_dir,
					       parse->fault);
	case KEY_KALLSYMS:
		source->symbols.kallsyms = argument;
		return 0;
	case KEY_NO_STITCH:
		source->no_stitch = true;
		return 0;
	case KEY_INLINE:
		options->top.inlined = true;
		return 0;
	}
	return -ENOENT;
}

static int add_changed(struct command_line *parse, const char *name)
{
	struct options *options = &parse->options;

	if (*name == '\0')
		return options_wrong(parse->fault, "--changed-func", name,
				     "the name of a function");
	if (options->n_changed == OPTIONS_MAX_CHANGED)
		return fault_set(parse->fault, -EINVAL, "--changed-func: at most %d functions",
				 OPTIONS_MAX_CHANGED);
	options->changed[options->n_changed++] = name;
	return 0;
}

/* Options of diff alone. */
static int apply_diff(struct command_line *parse, int key, const char *argument)
{
	struct options *options = &parse->options;

	switch (key) {
	case KEY_FIND_CHANGE:
		options->find_change = true;
		return 0;
	case KEY_ALL:
		options->all = true;
		return 0;
	case KEY_PERCENT_LIMIT:
		return options_parse_percent("--percent-limit", argument, &options->percent_limit,
					     parse->fault);
	case KEY_BEFORE:
		return options_parse_directory("--before", argument, &options->before,
					       parse->fault);
	case KEY_AFTER:
		return options_parse_directory("--after", argument, &options->after, parse->fault);
	case KEY_CHANGED_FUNC:
		return add_changed(parse, argument);
	}
	return -ENOENT;
}

static int apply_output(struct command_line *parse, int key, const char *argument)
{
	struct options *options = &parse->options;

	switch (key) {
	case KEY_BY:
		parse_by(parse, argument);
		return 0;
	case KEY_TREE:
		return options_parse_tree(argument, &options->top.tree, parse->fault);
	case KEY_VERBOSE:
		options->top.verbose = true;
		return 0;
	case KEY_DEPTH:
		return options_parse_depth(argument, &options->top.depth, parse->fault);
	case KEY_BRANCH_KIND:
		return options_parse_branch_kinds(argument, &options->top.branch_kinds,
						  parse->fault);
	case KEY_MISPREDICTED:
		options->top.mispredicted = true;
		return 0;
	case KEY_LEVEL:
		return options_parse_level(argument, &options->top.level, parse->fault);
	case KEY_SORT:
		parse->sort = argument;
		return 0;
	case KEY_ROWS:
		return parse_rows(parse, argument);
	case KEY_FORMAT:
		parse->format = argument;
		return 0;
	case KEY_OUTPUT:
		if (!argument[0])
			return fault_set(parse->fault, -EINVAL, "-o needs the path of a file");
		options->output_path = argument;
		return 0;
	case KEY_DIFF:
		if (options->new_window)
			return fault_set(parse->fault, -EINVAL, "give --diff once");
		options->new_window = argument;
		return 0;
	case KEY_OPEN:
		options->open = true;
		return 0;
	case KEY_SOURCE:
		options->with_source = true;
		return 0;
	case KEY_ATT:
		options->source.symbols.att = true;
		return 0;
	case KEY_SAMPLES:
		options->samples = true;
		return 0;
	case KEY_BRANCHES:
		options->branches = true;
		return 0;
	case KEY_ONCE:
		options->once = true;
		return 0;
	case KEY_EVERY:
		return options_parse_every(argument, &options->every_us, parse->fault);
	case KEY_SELF:
		options->self = true;
		return 0;
	case KEY_SINCE:
		return options_parse_time("--since", argument, options->source.now_us, false,
					  &options->source.since_us, parse->fault);
	case KEY_UNTIL:
		return options_parse_time("--until", argument, options->source.now_us, true,
					  &options->source.until_us, parse->fault);
	case KEY_LIST:
		options->list_marks = true;
		return 0;
	case KEY_DELETE:
		options->delete_mark = true;
		return 0;
	case KEY_SIZE:
		return options_parse_bytes("--size", argument, &options->max_bytes, parse->fault);
	case KEY_TIME:
		return options_parse_span("--time", argument, &options->keep_us, parse->fault);
	case KEY_FOLLOW:
		options->follow = true;
		return 0;
	case KEY_SOCKET:
		options->source.socket = argument;
		return 0;
	case KEY_HOST:
		return options_host_add(options, argument, parse->fault);
	case KEY_HOST_LIST:
		options->host_list = argument;
		return 0;
	case KEY_HOST_TIMEOUT:
		return options_parse_span("--host-timeout", argument, &options->host_timeout_us,
					  parse->fault);
	case KEY_JSON:
		options->json = true;
		return 0;
	case KEY_NO_PAGER:
		options->output.no_pager = true;
		return 0;
	case KEY_COLOR:
		if (color_parse(&options->output.color, argument) < 0)
			return options_wrong(parse->fault, "--color", argument,
					     "auto, always or never");
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

static int apply(struct command_line *parse, int key, const char *argument)
{
	unsigned int commands;
	const struct option_spec *spec = option_find(key, &commands);
	int r;

	if (parse->commands & ~commands)
		parse->refused = option_name(spec);
	parse->commands &= commands;
	r = options_filter_apply(&parse->options, key, argument, parse->fault);
	if (r == -ENOENT)
		r = options_cluster_apply(&parse->options, key, argument, parse->fault);
	if (r == -ENOENT)
		r = apply_reading(parse, key, argument);
	if (r == -ENOENT)
		r = apply_diff(parse, key, argument);
	if (r == -ENOENT)
		r = apply_output(parse, key, argument);
	return r;
}

/* The rest of a word "-5min" is the argument of an option "-5". */
static const char short_options[] = "-:n:o:p:u:H:hV0::1::2::3::4::5::6::7::8::9::";

#define MAX_OPTIONS 128

static int has_argument(const struct option_spec *spec)
{
	if (!spec->argument)
		return no_argument;
	return *spec->argument == '[' ? optional_argument : required_argument;
}

static void fill_getopt(struct option *options)
{
	size_t n = 0;

	for (size_t i = 0; i < n_option_specs && n + 1 < MAX_OPTIONS; i++)
		if (option_specs[i].name && *option_specs[i].name)
			options[n++] = (struct option){
				.name = option_specs[i].name,
				.has_arg = has_argument(&option_specs[i]),
				.val = option_specs[i].key,
			};
}

static void add_operand(struct command_line *parse, const char *word)
{
	if (parse->n_operands < OPTIONS_MAX_OPERANDS)
		parse->operands[parse->n_operands] = word;
	parse->n_operands++;
}

static int refuse(struct command_line *parse, int key, char *const *argv)
{
	const char *word = argv[optind - 1];

	if (key == ':')
		return fault_set(parse->fault, -EINVAL, "%s needs an argument; see --help", word);
	if (optopt > 255)
		return fault_set(parse->fault, -EINVAL, "%s takes no argument; see --help", word);
	if (strncmp(word, "--tid", 5) == 0)
		return fault_set(parse->fault, -EINVAL,
				 "--tid: threads are not told apart, their samples are counted for "
				 "the process; give --pid");
	if (optopt != 0)
		return fault_set(parse->fault, -EINVAL,
				 "unknown option -%c; --help lists the options", optopt);
	return fault_set(parse->fault, -EINVAL, "unknown option %s; --help lists the options",
			 word);
}

/* What follows "--" is the command to run. */
static bool is_run(const struct command_line *parse)
{
	return parse->n_operands > 0 &&
	       strcmp(parse->operands[0], command_specs[COMMAND_RUN].name) == 0;
}

static int read_options(struct command_line *parse, int argc, char **argv)
{
	struct option options[MAX_OPTIONS] = {};
	int key, r = 0;

	fill_getopt(options);
	opterr = 0;
	while (r >= 0 && (key = getopt_long(argc, argv, short_options, options, NULL)) != -1)
		if (key == ':' || key == '?')
			r = refuse(parse, key, argv);
		else if (key == 1)
			add_operand(parse, optarg);
		else if (key >= '0' && key <= '9')
			add_operand(parse, argv[optind - 1]);
		else
			r = apply(parse, key, optarg);
	if (optind > 0 && strcmp(argv[optind - 1], "--") == 0 && optind < argc && is_run(parse)) {
		parse->options.argv = argv + optind;
		return r;
	}
	for (; optind < argc; optind++)
		add_operand(parse, argv[optind]);
	return r;
}

static int read_command(struct command_line *parse, const char *word)
{
	struct options *options = &parse->options;

	for (int i = 0; i < N_COMMANDS; i++)
		if (strcmp(word, command_specs[i].name) == 0) {
			options->command = (enum command_id)i;
			if (i == COMMAND_DIFF || i == COMMAND_DUMP) /* as only they need them */
				options->source.symbols.max_code_bytes = SIZE_MAX;
			return 0;
		}
	return fault_set(parse->fault, -EINVAL,
			 "unknown command '%s'; branchctl --help lists the commands", word);
}

static const char *get_operand(const struct command_line *parse, int i)
{
	return parse->n_operands > i ? parse->operands[i] : NULL;
}

/* One word of annotate and history is either. */
static bool has_symbol(const struct command_line *parse)
{
	const char *word = get_operand(parse, 1);

	return parse->n_operands > 2 || (word && !window_ref_is_likely(word));
}

static void take_operands(struct command_line *parse)
{
	struct options *options = &parse->options;
	int first = 1;

	if (options->command == COMMAND_ANNOTATE && has_symbol(parse))
		options->symbol = get_operand(parse, first++);
	if (options->command == COMMAND_HISTORY && has_symbol(parse))
		options->source.filter.symbol = get_operand(parse, first++);
	if (options->command == COMMAND_MARK)
		options->mark = get_operand(parse, first++);
	options->source.window = get_operand(parse, first);
	options->new_window = get_operand(parse, first + 1) ?: options->new_window;
}

/* "help top" is top --help. */
static void take_help(struct command_line *parse)
{
	if (parse->n_operands == 0 || strcmp(parse->operands[0], "help") != 0)
		return;
	parse->help = true;
	parse->n_operands = MIN(parse->n_operands - 1, OPTIONS_MAX_OPERANDS - 1);
	memmove(parse->operands, parse->operands + 1,
		(size_t)parse->n_operands * sizeof(*parse->operands));
}

static int read_operands(struct command_line *parse)
{
	int r;

	take_help(parse);
	if (parse->version) {
		puts("branchctl " BRANCHD_VERSION);
		return 0;
	}
	if (parse->n_operands > 0) {
		r = read_command(parse, parse->operands[0]);
		if (r < 0)
			return r;
	}
	if (parse->help) {
		options_print_help(parse->n_operands > 0 ? parse->options.command : N_COMMANDS);
		return 0;
	}
	if (parse->n_operands == 0)
		return fault_set(
			parse->fault, -EINVAL,
			"give a command, such as branchctl top; --help lists the commands");
	take_operands(parse);
	r = options_check(parse);
	return r < 0 ? r : 1;
}

int options_parse(struct options *ret, int argc, char **argv, struct fault *fault)
{
	struct command_line parse = {
		.options = {
			.source = {
				.filter = PROFILE_FILTER_INIT,
				.socket = CONNECTION_DEFAULT_PATH,
				.symbols.home = getenv("HOME"),
				.now_us = clock_us(CLOCK_REALTIME),
				.names_there = true,
			},
			.top.n_rows = OPTIONS_DEFAULT_ROWS,
			.percent_limit = -1,
		},
		.fault = fault,
		.commands = OPTIONS_ALL_COMMANDS,
	};
	int r;

	r = read_options(&parse, argc, argv);
	if (r >= 0)
		r = read_operands(&parse);
	if (r > 0)
		*ret = parse.options;
	else
		options_done(&parse.options);
	return r;
}

void options_done(struct options *options)
{
	options_filter_done(options);
	options_host_done(options);
	options_cluster_done(options);
}
