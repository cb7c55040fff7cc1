/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cli/options/view.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/cli/options/value.h"
#include "client/top/share.h"
#include "client/top/top-order.h"

static bool is_by_branch(const struct options *options)
{
	return options->top.by == VIEW_BRANCH || options->top.by == VIEW_BRANCH_SITE;
}

bool options_are_of_mispredictions(const struct options *options)
{
	return options->top.mispredicted && !is_by_branch(options);
}

static int check_mispredictions(struct command_line *parse)
{
	struct options *options = &parse->options;
	enum view_by by = options->top.by;

	if (by != VIEW_FUNCTION && by != VIEW_OBJECT && !view_is_owner(by))
		return fault_set(
			parse->fault, -EINVAL,
			"--mispredicted works only with --by branch, branch-site, function, "
			"object, process, comm, unit, container, user");
	if (parse->sort || options->top.inlined)
		return fault_set(
			parse->fault, -EINVAL,
			"%s does not go with --mispredicted --by %s: leave out one of them",
			parse->sort ? "--sort" : "--inline", view_name(by));
	options->source.filter.sources_only = true;
	return 0;
}

/* Options of the views by branch. */
static int check_branches(struct command_line *parse)
{
	struct options *options = &parse->options;
	const char *option = options->top.branch_kinds ? "--branch-kind" :
			     options->top.level        ? "--level" :
							 NULL;

	if (option && !is_by_branch(options))
		return fault_set(parse->fault, -EINVAL,
				 "%s works only with --by branch or --by branch-site", option);
	if (options_are_of_mispredictions(options))
		return check_mispredictions(parse);
	if (options->top.mispredicted)
		options->order = TOP_ORDER_MISPREDICTED;
	return 0;
}

static int check_sort(struct command_line *parse)
{
	struct options *options = &parse->options;
	enum view_by by = options->top.by;
	char words[128] = "one of";

	if (!parse->sort || top_order_parse(&options->order, by, parse->sort) >= 0)
		return 0;
	if (!top_order_word(by, 0))
		return fault_set(parse->fault, -EINVAL,
				 "--sort works only with --by function, line, object, stream, "
				 "branch, branch-site or block");
	for (size_t i = 0, n = top_n_orders(by); i < n; i++) {
		const char *word = top_order_word(by, i);
		size_t length = strlen(words);

		if (word)
			snprintf(words + length, sizeof(words) - length, "%s %s", i > 0 ? "," : "",
				 word);
	}
	return options_wrong(parse->fault, "--sort", parse->sort, words);
}

int options_refuse_view(const struct command_line *parse, const char *name)
{
	if (parse->options.command == COMMAND_DIFF)
		return options_wrong(
			parse->fault, "diff --by", name,
			"one or more of function, stream, block, line, object, process, unit, "
			"comm, container, user, separated by commas");
	return options_wrong(parse->fault, "--by", name,
			     "one of function, stack, stream, branch, branch-site, block, line, "
			     "object, process, unit, comm, container, user");
}

/* "--by function --by process", in either order: rows say whose they are. */
static int check_owner(struct command_line *parse)
{
	struct options *options = &parse->options;
	enum view_by owner, by = options->top.by;

	if (!parse->owner)
		return 0;
	if (options->command == COMMAND_DIFF)
		return fault_set(parse->fault, -EINVAL,
				 "diff takes one --by: separate kinds by commas, as in --by %s,%s",
				 parse->by, parse->owner);
	if (view_parse(&owner, parse->owner) < 0)
		return options_refuse_view(parse, parse->owner);
	if (view_is_owner(by) && !view_is_owner(owner)) {
		options->top.by = owner;
		owner = by;
	}
	by = options->top.by;
	if (parse->n_by > 0 || !view_is_owner(owner) || (by != VIEW_FUNCTION && by != VIEW_OBJECT))
		return fault_set(parse->fault, -EINVAL,
				 "two --by are function or object, and one of process, comm, unit, "
				 "container, user");
	if (options->top.inlined)
		return fault_set(parse->fault, -EINVAL,
				 "--inline works only with one --by: leave out --by %s",
				 view_name(owner));
	options->top.owner = owner;
	return 0;
}

/* A recording has none of what tells them apart. */
static bool is_of_windows(enum view_by by)
{
	return by == VIEW_UNIT || by == VIEW_CONTAINER || by == VIEW_USER;
}

int options_check_recorded_views(const struct command_line *parse)
{
	const struct options *options = &parse->options;
	enum view_by refused =
		is_of_windows(options->top.owner) ? options->top.owner : options->top.by;

	for (size_t i = 0; i < options->n_views && !is_of_windows(refused); i++)
		refused = options->views[i];
	if (!is_of_windows(refused))
		return 0;
	return fault_set(parse->fault, -EINVAL,
			 "--by %s is for windows of the daemon: a recording has no units, users "
			 "and containers; give another, such as --by process",
			 view_name(refused));
}

static bool has_streams(const struct options *options)
{
	for (size_t i = 0; i < options->n_views; i++)
		if (options->views[i] == VIEW_STREAM)
			return true;
	return options->command == COMMAND_DIFF && !options->by_given && options->json;
}

static int check_limit(const struct options *options, struct fault *fault)
{
	enum view_by by = options->top.by;

	if (options->command != COMMAND_TOP || options->percent_limit < 0 ||
	    (by == VIEW_STACK && !options->top.tree))
		return 0;
	if (by == VIEW_STACK || by == VIEW_STREAM || by == VIEW_BLOCK || by == VIEW_BRANCH ||
	    by == VIEW_BRANCH_SITE)
		return fault_set(fault, -EINVAL,
				 "--percent-limit works only with --by function, line, object, "
				 "process, unit, comm, container, user, and stack without --tree");
	return 0;
}

/* What goes with one --by alone. */
static int check_details(const struct command_line *parse)
{
	const struct options *options = &parse->options;

	if (options->top.tree && options->top.by != VIEW_STACK)
		return fault_set(parse->fault, -EINVAL, "--tree works only with --by stack");
	if (options->top.verbose &&
	    (options->top.by != VIEW_STACK || options->top.tree || options->json))
		return fault_set(parse->fault, -EINVAL,
				 "--verbose works only with --by stack, and without --tree or "
				 "--json");
	if (options->top.depth && !has_streams(options))
		return fault_set(parse->fault, -EINVAL, "--depth works only with --by stream");
	return check_limit(options, parse->fault);
}

int options_check_view(struct command_line *parse)
{
	int r = check_owner(parse);

	if (r >= 0)
		r = check_branches(parse);
	if (r >= 0)
		r = check_sort(parse);
	return r < 0 ? r : check_details(parse);
}
