/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "client/cli/commands.h"
#include "client/history/search.h"
#include "client/render/search-text.h"
#include "client/term/output.h"

/* Each row is located by some calls of the daemon. */
#define MAX_ROWS 100

int command_find_change(const struct options *options, struct fault *fault)
{
	_cleanup_(history_search_freep) struct history_search *search = NULL;
	struct profile_source_settings settings = options->source;
	size_t n_rows = options->top.n_rows ?: MAX_ROWS;
	struct output output;
	int r;

	history_default_span(&settings);
	r = history_search_new(&search, &settings, MIN(n_rows, (size_t)MAX_ROWS), fault);
	if (r < 0)
		return r;
	output_open(&output, &options->output);
	r = options->json ? search_write_json(search, output.f) :
			    search_write_table(search, options->source.now_us, &output);
	if (output_close(&output, fault) < 0)
		return -EIO;
	return r < 0 ? fault_set(fault, r, "%s", strerror(-r)) : 0;
}
