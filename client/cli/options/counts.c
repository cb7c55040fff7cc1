/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cli/options/counts.h"

#include "client/top/function-shares.h"
#include "client/top/share.h"

bool options_counts_suffice(const struct options *options, enum functions_by *ret)
{
	const struct profile_filter *filter = &options->source.filter;

	return options->n_views <= 1 && options->top.owner == VIEW_NO_OWNER &&
	       !options->top.inlined && !options->top.mispredicted && !options->before &&
	       !filter->object && !filter->symbol && function_shares_suffice(options->top.by, ret);
}

static unsigned int tables_of_view(const struct options *options)
{
	unsigned int tables =
		PROFILE_TABLE(PROFILE_STACKS); /* the head of all views is of samples */

	if (options->top.mispredicted)
		tables |= PROFILE_TABLE(PROFILE_BRANCHES);
	switch (options->top.by) {
	case VIEW_STREAM:
		return tables | PROFILE_TABLE(PROFILE_STREAMS);
	case VIEW_BRANCH:
	case VIEW_BRANCH_SITE:
		return tables | PROFILE_TABLE(PROFILE_BRANCHES);
	case VIEW_BLOCK:
		return tables | PROFILE_TABLE(PROFILE_BLOCKS);
	default:
		return tables;
	}
}

unsigned int options_top_tables(const struct options *options)
{
	return profile_filter_tables(&options->source.filter, tables_of_view(options));
}

bool options_top_sums_processes(const struct options *options)
{
	enum view_by by = options->top.by;

	return options_top_tables(options) != 0 &&
	       (by == VIEW_BRANCH || by == VIEW_BRANCH_SITE || by == VIEW_BLOCK);
}
