/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cli/options/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/cli/options/cluster.h"
#include "client/cli/options/every.h"
#include "client/cli/options/format.h"
#include "client/cli/options/host.h"
#include "client/cli/options/table.h"
#include "client/cli/options/value.h"
#include "client/cli/options/view.h"
#include "client/history/history.h"
#include "client/source/window-ref.h"

/* Only recordings contain samples. */
static int check_samples(const struct command_line *parse, const struct window_ref *ref)
{
	const struct options *options = &parse->options;

	if (!options->samples)
		return 0;
	if (options->json || parse->format)
		return fault_set(parse->fault, -EINVAL,
				 "dump --samples has only one format: leave out %s",
				 parse->format ? "--format" : "--json");
	if (ref->kind != WINDOW_REF_RECORDING)
		return fault_set(
			parse->fault, -EINVAL,
			"dump --samples needs a recording, because windows contain counts: "
			"give a path that contains a '/' or ends in .data");
	return 0;
}

/* Several events come one after the other, each from the same window. */
static int check_events(struct command_line *parse, const struct window_ref *ref)
{
	const struct options *options = &parse->options;

	if (options->n_events <= 1)
		return 0;
	if (options->command != COMMAND_TOP && options->command != COMMAND_DIFF)
		return fault_set(parse->fault, -EINVAL, "%s takes only one --event",
				 command_specs[options->command].name);
	if (ref->kind == WINDOW_REF_RECORDING)
		return 0;
	return fault_set(parse->fault, -EINVAL,
			 "several --event need recordings, because windows have one event: "
			 "give paths that contain a '/' or end in .data");
}

/* What has an effect on a recording alone, or on windows alone. */
static int check_source(const struct command_line *parse, bool is_recording)
{
	const struct profile_source_settings *source = &parse->options.source;
	const char *option = source->event            ? "--event" :
			     source->force            ? "--force" :
			     source->symbols.symfs    ? "--symfs" :
			     source->symbols.kallsyms ? "--kallsyms" :
			     source->no_stitch        ? "--no-stitch" :
							NULL;

	if (option && !is_recording)
		return fault_set(parse->fault, -EINVAL,
				 "%s is for a recording: give a path that contains a '/' or ends "
				 "in .data, or leave it out",
				 option);
	option = source->filter.unit      ? "--unit" :
		 source->filter.uid       ? "--uid" :
		 source->filter.container ? "--container" :
					    NULL;
	if (option && is_recording)
		return fault_set(parse->fault, -EINVAL,
				 "%s is for windows of the daemon: a recording has no units, users "
				 "and containers; leave it out",
				 option);
	return is_recording ? options_check_recorded_views(parse) : 0;
}

static int check_diff(struct command_line *parse, const struct window_ref *other)
{
	struct options *options = &parse->options;

	for (size_t i = 0; i < options->n_views; i++)
		if (options->views[i] == VIEW_STACK || options->views[i] == VIEW_BRANCH ||
		    options->views[i] == VIEW_BRANCH_SITE)
			return options_refuse_view(parse, parse->by);
	if (!options->before != !options->after)
		return fault_set(parse->fault, -EINVAL,
				 "diff takes --before and --after together: the directories of the "
				 "old and the new sources");
	return check_events(parse, other);
}

static int check_annotate(struct command_line *parse)
{
	const struct options *options = &parse->options;
	const char *symbol = options->symbol;

	if (symbol && options->rows_given)
		return fault_set(
			parse->fault, -EINVAL,
			"annotate takes -n only without a SYMBOL: for the N hottest functions");
	if (symbol && window_ref_is_likely(symbol))
		return fault_set(
			parse->fault, -EINVAL,
			"'%s' is no symbol; give the SYMBOL first, as in branchctl annotate "
			"main perf.data",
			symbol);
	return 0;
}

static int check_history(const struct command_line *parse, const struct window_ref *ref)
{
	const struct profile_filter *filter = &parse->options.source.filter;

	if (ref->kind == WINDOW_REF_RECORDING)
		return fault_set(
			parse->fault, -EINVAL,
			"history needs windows of the daemon: a recording has one span of time");
	if (!filter->symbol && !filter->object && !profile_filter_is_by_process(filter))
		return fault_set(parse->fault, -EINVAL,
				 "history of what? Give a SYMBOL, or a filter such as --unit or "
				 "--object, as in branchctl history main");
	if (parse->options.top.n_rows > HISTORY_MAX_POINTS)
		return fault_set(parse->fault, -EINVAL, "history takes -n up to %d",
				 HISTORY_MAX_POINTS);
	return 0;
}

/* A name must not be anything else that a WINDOW may be. */
static int check_mark_name(const struct command_line *parse, const char *name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
	struct window_ref ref;
	struct fault fault;
	bool valid = window_ref_parse(&ref, name, parse->options.source.now_us, &fault) >= 0 &&
		     ref.kind == WINDOW_REF_WINDOW && ref.first.kind == BOUND_NAME;
	size_t n = strspn(name, letters);

	if (strcmp(name, "list") == 0 || strcmp(name, "delete") == 0)
		return fault_set(parse->fault, -EINVAL,
				 "'%s' cannot be the name of windows, as it is an option: see "
				 "branchctl mark "
				 "--%s",
				 name, name);
	if (valid && n > 0 && strlen(name) <= WINDOWS_MARK_NAME_MAX &&
	    name[n + strspn(name + n, "0123456789.-_ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz")] == '\0')
		return 0;
	return fault_set(parse->fault, -EINVAL,
			 "'%s' cannot be the name of windows: give at most %d letters, digits, "
			 "'.', '-' and '_', beginning with a letter, that are no time",
			 name, WINDOWS_MARK_NAME_MAX);
}

static int check_mark(const struct command_line *parse, const struct window_ref *ref)
{
	const struct options *options = &parse->options;
	const struct profile_source_settings *source = &options->source;
	bool has_window = source->window || source->since_us > 0 || source->until_us > 0;

	if (options->list_marks && (options->mark || has_window || options->delete_mark))
		return fault_set(parse->fault, -EINVAL, "mark --list takes nothing else");
	if (options->list_marks)
		return 0;
	if (!options->mark)
		return fault_set(
			parse->fault, -EINVAL,
			"mark needs a NAME, as in branchctl mark before-deploy; or --list");
	if (options->delete_mark)
		return has_window ?
			       fault_set(parse->fault, -EINVAL, "mark --delete takes only a NAME") :
			       0;
	if (ref->kind == WINDOW_REF_RECORDING)
		return fault_set(parse->fault, -EINVAL,
				 "mark names windows of the daemon: a recording has a name, "
				 "'%s'",
				 source->window);
	return check_mark_name(parse, options->mark);
}

/* What a comparison of two windows has, and a search in one span of time has not. */
static int check_find_change(const struct command_line *parse, const struct window_ref *ref)
{
	const struct options *options = &parse->options;
	const struct profile_filter *filter = &options->source.filter;
	const char *option = parse->by                   ? "--by" :
			     options->before             ? "--before" :
			     options->n_changed > 0      ? "--changed-func" :
			     options->percent_limit >= 0 ? "--percent-limit" :
			     options->all                ? "--all" :
			     options->top.depth          ? "--depth" :
			     options->top.inlined        ? "--inline" :
			     filter->object              ? "--object" :
			     filter->symbol              ? "--symbol" :
			     options->n_events > 0       ? "--event" :
							   NULL;

	if (option)
		return fault_set(parse->fault, -EINVAL, "diff --find-change takes no %s", option);
	if (ref->kind == WINDOW_REF_RECORDING)
		return fault_set(parse->fault, -EINVAL,
				 "--find-change needs windows of the daemon: a recording has one "
				 "span of time");
	return 0;
}

/* Of the second WINDOW of diff and flame, if there is one. */
static int parse_other(struct command_line *parse, struct window_ref *ret)
{
	const struct options *options = &parse->options;

	if (!options->new_window)
		return 0;
	return window_ref_parse(ret, options->new_window, options->source.now_us, parse->fault);
}

static int check_window(struct command_line *parse)
{
	struct options *options = &parse->options;
	struct window_ref ref, other;
	int r;

	r = window_ref_parse(&ref, options->source.window, options->source.now_us, parse->fault);
	if (r < 0)
		return r;
	other = ref;
	r = parse_other(parse, &other);
	if (r < 0)
		return r;
	r = check_source(parse,
			 ref.kind == WINDOW_REF_RECORDING || other.kind == WINDOW_REF_RECORDING);
	if (r < 0)
		return r;
	r = options_host_check(options, &ref, &other, parse->fault);
	if (r < 0)
		return r;
	r = check_samples(parse, &ref);
	if (r < 0)
		return r;
	r = check_events(parse, &ref);
	if (r < 0)
		return r;
	if (options->find_change)
		return check_find_change(parse, &ref);
	if (options->command == COMMAND_DIFF)
		return check_diff(parse, &other);
	if (options->command == COMMAND_ANNOTATE)
		return check_annotate(parse);
	if (options->command == COMMAND_HISTORY)
		return check_history(parse, &ref);
	if (options->command == COMMAND_MARK)
		return check_mark(parse, &ref);
	if (options->command == COMMAND_DUMP && !options->samples &&
	    (options->top.inlined || options->branches))
		return fault_set(parse->fault, -EINVAL, "dump takes %s only with --samples",
				 options->branches ? "--branches" : "--inline");
	return 0;
}

static int check_span(const struct options *options, struct fault *fault)
{
	const struct profile_source_settings *source = &options->source;

	if (source->until_us > 0 && source->since_us >= source->until_us)
		return fault_set(fault, -EINVAL, "--until must be later than --since");
	if (options->command == COMMAND_DIFF && !options->find_change &&
	    (source->since_us > 0 || source->until_us > 0))
		return fault_set(fault, -EINVAL,
				 "diff takes --since and --until only with --find-change; two "
				 "windows may be spans, as in branchctl diff -2h..-1h -1h");
	if (source->window && (source->since_us > 0 || source->until_us > 0))
		return fault_set(fault, -EINVAL, "give either a WINDOW, '%s', or %s",
				 source->window, source->since_us > 0 ? "--since" : "--until");
	return 0;
}

/* Scripts get all rows, unless they say how many. */
static void take_all_rows(struct options *options)
{
	if (!options->json || (options->command != COMMAND_TOP && options->command != COMMAND_DIFF))
		return;
	if (!options->rows_given)
		options->top.n_rows = 0;
	if (options->percent_limit < 0)
		options->percent_limit = 0;
}

static int check_follow(const struct options *options, struct fault *fault)
{
	if (options->command != COMMAND_WINDOWS || !options->follow || !options->rows_given)
		return 0;
	return fault_set(fault, -EINVAL,
			 "windows takes -n without --follow, which goes on with all; --since "
			 "TIME says where it begins");
}

static int check_operands(const struct command_line *parse, const struct command_spec *command)
{
	const struct options *options = &parse->options;
	int n = parse->n_operands - 1;

	if (n > 0 && options->every_us > 0 &&
	    options_check_every_word(parse->operands[1], parse->fault) < 0)
		return -EINVAL;
	if (options->command == COMMAND_RUN && (n > 0 || !options->argv))
		return fault_set(
			parse->fault, -EINVAL,
			"run needs -- and a command behind it, as in branchctl run -- make");
	if (options->command == COMMAND_VACUUM && n == 0 && options->max_bytes == 0 &&
	    options->keep_us == 0)
		return fault_set(
			parse->fault, -EINVAL,
			"vacuum needs --size or --time, as in branchctl vacuum --size 500M");
	if (n > 0 && command->max_operands == 0)
		return fault_set(parse->fault, -EINVAL, "%s takes no '%s'; see branchctl %s --help",
				 command->name, parse->operands[1], command->name);
	if (options->find_change && n > 1)
		return fault_set(parse->fault, -EINVAL,
				 "diff --find-change takes one WINDOW, not %d; quote a time that "
				 "contains a blank",
				 n);
	if (n > command->max_operands)
		return fault_set(parse->fault, -EINVAL,
				 "%s takes %s, not %d; quote a time that contains a blank",
				 command->name, command->operands, n);
	if (n < options_cluster_min_operands(options, command->min_operands) &&
	    !options->find_change)
		return fault_set(parse->fault, -EINVAL, "%s needs %s, as in branchctl %s",
				 command->name, command->operands, command->example);
	return 0;
}

int options_check(struct command_line *parse)
{
	const struct options *options = &parse->options;
	const struct command_spec *command = &command_specs[options->command];
	int r;

	if (!(parse->commands & 1u << options->command))
		return fault_set(parse->fault, -EINVAL, "%s takes no %s%s; see branchctl %s --help",
				 command->name, strlen(parse->refused) > 1 ? "--" : "-",
				 parse->refused, command->name);
	r = check_follow(options, parse->fault);
	if (r >= 0)
		r = check_operands(parse, command);
	if (r < 0)
		return r;
	if (parse->by && options->n_views != 1 &&
	    (options->n_views == 0 || options->command != COMMAND_DIFF))
		return options_refuse_view(parse, parse->by);
	r = options_cluster_check(&parse->options, parse->by, parse->owner != NULL, parse->fault);
	if (r >= 0)
		r = options_check_view(parse);
	if (r < 0)
		return r;
	r = options_parse_format(&parse->options, parse->format, parse->fault);
	if (r < 0)
		return r;
	r = options_check_every(options, parse->fault);
	if (r >= 0)
		r = check_span(options, parse->fault);
	if (r >= 0 && command->max_operands > 0)
		r = check_window(parse);
	if (r >= 0)
		r = options_host_set_sockets(&parse->options, parse->fault);
	if (r >= 0)
		take_all_rows(&parse->options);
	return r;
}
