/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/periodic/report.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/render/top-json.h"
#include "client/render/top-table.h"
#include "client/source/time-spec.h"
#include "client/term/text.h"
#include "client/top/top-order.h"
#include "client/view/counters.h"
#include "client/view/missing.h"
#include "common/util/cleanup.h"

/* Times of the same day have no date. */
static void write_head(struct output *output, const struct profile_source *source,
		       struct report_span span)
{
	uint64_t n = source->all->counters.samples, all = profile_source_machine_samples(source);
	uint64_t lost = counters_lost(&source->profile->counters);
	struct missing missing = missing_of(source);
	char from[TIME_SPEC_TEXT_MAX], until[TIME_SPEC_TEXT_MAX];

	fprintf(output->f, "%s%s to %s%s: %" PRIu64, COLOR_BOLD(output->colors),
		time_spec_format(from, span.from_us, span.until_us),
		time_spec_format(until, span.until_us, span.until_us), COLOR_RESET(output->colors),
		n);
	if (source->by_process)
		fprintf(output->f, " of all %" PRIu64, all);
	fprintf(output->f, " sample%s, %" PRIu64 " missing", text_plural(all), lost);
	if (missing.estimated_percent >= MISSING_MIN_PERCENT)
		fprintf(output->f, ", %.0f %% estimated", missing.estimated_percent);
	if (missing_has_estimated_stacks(&missing))
		fprintf(output->f, ", %.0f %% captured", missing.captured_percent);
	fputc('\n', output->f);
}

static int write_text(const struct top *top, struct report_span span,
		      const struct report_settings *settings, struct fault *fault)
{
	struct output_settings now = settings->output;
	struct output output;
	int r;

	now.no_pager = true;
	output_open(&output, &now);
	write_head(&output, top->source, span);
	r = top_write_rows(top, &output);
	if (r >= 0 && top_n_omitted(top) > 0)
		fprintf(output.f, "... %zu more%s\n", top_n_omitted(top),
			top->tree ? " lines" : "");
	fputc('\n', output.f);
	if (output_close(&output, fault) < 0)
		return -EIO;
	return r < 0 ? fault_set(fault, r, "out of memory") : 0;
}

/* As top writes it, in one line. */
static int write_line(const struct top *top, struct fault *fault)
{
	_cleanup_free_ char *text = NULL;
	struct output output;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	json_t *document = NULL;
	int r = -ENOMEM;

	if (f) {
		r = top_write_json(top, f);
		r = fclose(f) == 0 ? r : -ENOMEM;
	}
	if (r >= 0)
		document = json_loadb(text, n, 0, NULL);
	if (!document)
		return fault_set(fault, -ENOMEM, "out of memory");
	output_open(&output, &(struct output_settings){ .no_pager = true });
	r = json_dumpf(document, output.f, JSON_COMPACT | JSON_REAL_PRECISION(16));
	fputc('\n', output.f);
	json_decref(document);
	if (output_close(&output, fault) < 0)
		return -EIO;
	return r < 0 ? fault_set(fault, -ENOMEM, "out of memory") : 0;
}

/* The period takes the place of windows, which it shares with others. */
static int replace(struct profile_source *source, struct profile *profile, struct report_span span,
		   const struct profile_filter *filter)
{
	struct windows windows = {};
	struct window_info period = {
		.start_us = span.from_us,
		.length_us = span.until_us - span.from_us,
		.samples = profile->counters.samples,
		.lost = counters_lost(&profile->counters),
		.open = true,
	};
	int r;

	snprintf(period.mode, sizeof(period.mode), "%s", profile->info.mode ?: "");
	r = windows_add(&windows, &period);
	if (r < 0)
		profile_free(profile);
	return r < 0 ? r : profile_source_replace(source, profile, &windows, filter);
}

int report_write(const struct report_settings *settings, struct profile_source *source,
		 struct profile *profile, struct report_span span, struct fault *fault)
{
	_cleanup_(top_freep) struct top *top = NULL;
	struct top_settings how = settings->top;

	how.every_frame = settings->json;
	how.grouped = !settings->json;
	if (replace(source, profile, span, &settings->filter) < 0 ||
	    top_new(&top, source, &how) < 0)
		return fault_set(fault, -ENOMEM, "out of memory");
	if (settings->order > 0)
		top_sort(top, settings->order);
	if (settings->percent_limit > 0)
		top_limit(top, settings->percent_limit, settings->order == TOP_ORDER_TOTAL);
	return settings->json ? write_line(top, fault) : write_text(top, span, settings, fault);
}
