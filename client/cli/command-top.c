/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "client/cli/commands.h"
#include "client/live/live.h"
#include "client/render/top-json.h"
#include "client/render/top-table.h"
#include "client/source/profile-source.h"
#include "client/term/output.h"
#include "client/view/top-order.h"
#include "client/view/top.h"

int command_top(const struct options *options, struct fault *fault)
{
	_cleanup_(profile_source_freep) struct profile_source *source = NULL;
	_cleanup_(top_freep) struct top *top = NULL;
	struct output output;
	int r;

	if (live_is_wanted(options))
		return live_run(options, fault);
	r = profile_source_open(&source, options, fault);
	if (r < 0)
		return r;
	r = top_new(&top, source, options);
	if (r < 0)
		return fault_set(fault, r, "%s: %s", source->name, strerror(-r));

	if (options->mispredicted)
		top_sort(top, TOP_ORDER_MISPREDICTED);

	profile_source_say(source, stderr);
	top_say(top, stderr);
	output_open(&output, options);
	r = options->json ? top_write_json(top, output.f) : top_write_table(top, &output);
	if (output_close(&output, fault) < 0)
		return -EIO;
	return r < 0 ? fault_set(fault, r, "%s: %s", source->name, strerror(-r)) : 0;
}
