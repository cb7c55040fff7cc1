/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/commands.h"
#include "client/history/history.h"
#include "client/render/history-text.h"
#include "client/source/mark-ref.h"
#include "client/term/output.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"

#define DEFAULT_POINTS 24

/* "work, unit nginx.service" */
static char *format_name(const struct profile_filter *filter)
{
	const struct {
		const char *what, *value;
	} words[] = {
		{ "", filter->symbol },         { "object ", filter->object },
		{ "unit ", filter->unit },      { "container ", filter->container },
		{ "processes ", filter->comm }, { "without ", filter->exclude_comm },
		{ "pid ", filter->pid },        { "uid ", filter->uid },
	};
	char *text = NULL;
	size_t n_bytes;
	FILE *f = open_memstream(&text, &n_bytes);

	if (!f)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].value)
			fprintf(f, ", %s%s", words[i].what, words[i].value);
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	memmove(text, text + 2, n_bytes - 1); /* without the first ", " */
	return text;
}

static int write_history(const struct history *history, const struct options *options,
			 struct output *output)
{
	const struct profile_filter *filter = &options->source.filter;
	_cleanup_free_ char *name = NULL;

	if (options->json)
		return history_write_json(history, filter, output->f);
	name = format_name(filter);
	if (!name)
		return -ENOMEM;
	return history_write_table(history, name, options->source.now_us, output);
}

static int explain_nothing(const struct history *history, const struct options *options,
			   struct fault *fault)
{
	const struct profile_source_settings *source = &options->source;

	if (history->similar)
		return fault_set(fault, -ENOENT,
				 "no function is named %s; history '*%s*' counts similar names: %s",
				 source->filter.symbol, source->filter.symbol, history->similar);
	if (source->filter.symbol)
		fault_set(fault, -ENOENT,
			  "no function is named '%s' in %zu windows with %llu samples; branchctl "
			  "top -n 0 lists those there are, --comm selects a program",
			  source->filter.symbol, history->sum.n_windows,
			  (unsigned long long)history->sum.samples);
	else
		fault_set(fault, -ENOENT,
			  "nothing matches in %zu windows with %llu samples; branchctl top -n 0 "
			  "lists what there is",
			  history->sum.n_windows, (unsigned long long)history->sum.samples);
	if (!source->filter.symbol || options->cluster.url)
		return -ENOENT;
	return mark_ref_explain(source->socket, "history", source->filter.symbol, -ENOENT, fault);
}

int command_history(const struct options *options, struct fault *fault)
{
	_cleanup_(history_freep) struct history *history = NULL;
	struct history_settings settings = { .source = options->source,
					     .cluster = options->cluster,
					     .n_points = DEFAULT_POINTS };
	struct output output;
	int r;

	if (options->rows_given)
		settings.n_points = options->top.n_rows ?: HISTORY_MAX_POINTS;
	history_default_span(&settings.source);
	r = history_new(&history, &settings, fault);
	if (r < 0)
		return r;
	if (history->sum.self == 0 && history->sum.total == 0)
		return explain_nothing(history, options, fault);
	output_open(&output, &options->output);
	r = write_history(history, options, &output);
	if (output_close(&output, fault) < 0)
		return -EIO;
	return r < 0 ? fault_set(fault, r, "%s", strerror(-r)) : 0;
}
