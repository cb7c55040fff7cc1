/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What was set aside is told by the names of the counters ("rows_wrong_path": wrong path), so that
 * a counter added to the profile shows up here by itself.
 */
#include "client/render/summary.h"

#include <inttypes.h>
#include <string.h>

#include "client/term/text.h"
#include "client/view/counters.h"

static void write_length(FILE *f, uint64_t ns)
{
	if (ns < 1000000000)
		fprintf(f, " in %.1f ms", (double)ns / 1e6);
	else
		fprintf(f, " in %.1f s", (double)ns / 1e9);
}

static void write_origin(FILE *f, const struct profile_source *source)
{
	const struct profile_info *info = &source->all->info;

	text_write(f, source->name);
	fprintf(f, ": %" PRIu64 " samples of ", source->all->counters.samples);
	text_write(f, info->event ?: "an unnamed event");
	if (source->is_recording && info->end_ns > info->start_ns)
		write_length(f, info->end_ns - info->start_ns);
	fputc('\n', f);
	if (!info->hostname && !info->cpu)
		return;
	fputs("on ", f);
	text_write(f, info->hostname ?: "");
	fputs(info->hostname && info->cpu ? ", " : "", f);
	text_write(f, info->cpu ?: "");
	fputc('\n', f);
}

static void write_words(FILE *f, const char *name)
{
	for (; *name; name++)
		fputc(*name == '_' ? ' ' : *name, f);
}

/* "; set aside: 12 zero, 3 wrong path": the counters whose name is @prefix and more, but no total.
 */
static void write_set_aside(FILE *f, const struct profile_counters *counters, const char *prefix)
{
	size_t n_prefix = strlen(prefix), n = 0;

	for (size_t i = 0; i < N_COUNTERS; i++) {
		struct counter counter = counter_get(counters, i);

		if (strncmp(counter.name, prefix, n_prefix) != 0 || counter.value == 0 ||
		    strcmp(counter.name + n_prefix, "counted") == 0)
			continue;
		fprintf(f, "%s%" PRIu64 " ", n++ == 0 ? "; set aside: " : ", ", counter.value);
		write_words(f, counter.name + n_prefix);
	}
}

static double percent(uint64_t part, uint64_t all)
{
	return all > 0 ? 100.0 * (double)part / (double)all : 0;
}

static void write_rows(FILE *f, const struct profile_counters *counters)
{
	if (counters->rows == 0)
		return;
	fprintf(f, "%" PRIu64 " branch rows, %.1f %% counted", counters->rows,
		percent(counters->rows_counted, counters->rows));
	write_set_aside(f, counters, "rows_");
	fputc('\n', f);
}

static void write_runs(FILE *f, const struct profile_counters *counters)
{
	if (counters->runs == 0)
		return;
	fprintf(f, "%" PRIu64 " runs, %.1f %% counted", counters->runs,
		percent(counters->runs_counted, counters->runs));
	write_set_aside(f, counters, "runs_");
	fputc('\n', f);
}

/* How many of the samples have a path, and how much of one may be missing. */
static void write_streams(FILE *f, const struct profile_counters *counters)
{
	uint64_t all = counters->streams + counters->streams_invalid + counters->streams_limit;

	if (all == 0)
		return;
	fprintf(f, "%" PRIu64 " branch paths, %.1f %% kept", all, percent(counters->streams, all));
	if (counters->streams_pruned > 0)
		fprintf(f, ", %.1f %% in part", percent(counters->streams_pruned, all));
	if (counters->streams_error > 0)
		fprintf(f, ", each to within %" PRIu64 " samples", counters->streams_error);
	fputc('\n', f);
}

/* How many call stacks were completed by rows of earlier samples; how many were not, and why. */
static void write_stitching(FILE *f, const struct profile_counters *counters)
{
	const struct {
		uint64_t value;
		const char *what;
	} refused[] = {
		{ counters->stacks_unaligned, "with nothing in common with those" },
		{ counters->stacks_ambiguous, "with several places on those" },
		{ counters->stacks_inconsistent, "where calls do not follow from one another" },
	};
	const char *separator = "; not: ";

	if (counters->stacks_stitched == 0)
		return;
	fprintf(f, "%" PRIu64 " stacks completed by rows of earlier samples",
		counters->stacks_stitched);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		if (refused[i].value == 0)
			continue;
		fprintf(f, "%s%" PRIu64 " %s", separator, refused[i].value, refused[i].what);
		separator = ", ";
	}
	fputc('\n', f);
}

/* The counters of trouble that belong to no sum, nor to any process; nothing where there was none.
 */
static void write_troubles(FILE *f, const struct profile_source *source)
{
	const struct profile_counters *counters = &source->all->counters;
	const struct {
		uint64_t value;
		const char *what;
	} troubles[] = {
		{ counters->samples_other_event, "samples of other events" },
		{ counters->samples_guest, "samples of virtual machines" },
		{ counters->samples_limit, "samples past the limit" },
		{ counters->stacks_pruned, "stacks cut short for want of space" },
		{ counters->stacks_truncated, "stacks cut short at a frame pointer astray" },
		{ counters->stacks_depth_limit, "stacks too deep for their outermost frames" },
		{ counters->stacks_since_switch, "stacks back to a task switch only" },
		{ counters->unmapped, "samples at an unknown address" },
		{ counters->snapshots_empty, "samples without rows" },
		{ counters->lost_records, "records lost" },
		{ counters->lost_samples, "samples lost" },
		{ counters->skipped, "samples not taken" },
		{ counters->throttled, "times throttled" },
		{ counters->out_of_order, "records out of order" },
	};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(troubles); i++)
		if (troubles[i].value > 0)
			fprintf(f, "%s%" PRIu64 " %s",
				n++ > 0          ? ", " :
				source->filtered ? "of all: " :
						   "",
				troubles[i].value, troubles[i].what);
	if (n > 0)
		fputc('\n', f);
}

void summary_write(FILE *f, const struct profile_source *source, enum view_by by)
{
	const struct profile_counters *counters = &source->all->counters;

	write_origin(f, source);
	if (by == VIEW_BLOCK)
		write_runs(f, counters);
	else if (by == VIEW_STREAM)
		write_streams(f, counters);
	else
		write_rows(f, counters);
	write_stitching(f, counters);
	write_troubles(f, source);
	if (source->part)
		fprintf(f,
			"shown: %" PRIu64 " samples (%.1f %%), %" PRIu64 " rows, %" PRIu64
			" runs\n",
			source->part->counters.samples,
			percent(source->part->counters.samples, counters->samples),
			source->part->counters.rows_counted, source->part->counters.runs_counted);
}
