/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cli/options-counts.h"

#include "client/view/function-shares.h"
#include "client/view/share.h"

bool options_counts_suffice(const struct options *options, enum functions_by *ret)
{
	const struct profile_filter *filter = &options->source.filter;

	return options->n_views <= 1 && options->top.owner == VIEW_NO_OWNER &&
	       !options->top.inlined && !options->before && !filter->object && !filter->symbol &&
	       function_shares_suffice(options->top.by, ret);
}
