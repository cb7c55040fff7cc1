/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "client/commands.h"
#include "client/live.h"
#include "client/output.h"
#include "client/source.h"
#include "client/top-json.h"
#include "client/top-order.h"
#include "client/top-table.h"
#include "client/top.h"

int command_top(const struct options *options, struct fault *fault)
{
	_cleanup_(source_freep) struct source *source = NULL;
	_cleanup_(top_freep) struct top *top = NULL;
	struct output output;
	int r;

	if (live_is_wanted(options))
		return live_run(options, fault);
	r = source_open(&source, options, fault);
	if (r < 0)
		return r;
	r = top_new(&top, source, options);
	if (r < 0)
		return fault_set(fault, r, "%s: %s", source->name, strerror(-r));

	if (options->mispredicted)
		top_sort(top, TOP_ORDER_MISPREDICTED);

	source_say(source, stderr);
	top_say(top, stderr);
	output_open(&output, options);
	r = options->json ? top_write_json(top, output.f) : top_write_table(top, &output);
	if (output_close(&output, fault) < 0)
		return -EIO;
	return r < 0 ? fault_set(fault, r, "%s: %s", source->name, strerror(-r)) : 0;
}
