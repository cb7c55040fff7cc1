/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Skipped records and runs are listed by the names of their counters ("rows_wrong_path": wrong
 * path), so that a new counter of the profile shows up here by itself.
 */
#include "client/render/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/term/text.h"
#include "client/term/wrap.h"
#include "client/view/counters.h"
#include "client/view/missing.h"
#include "common/profile/other.h"
#include "common/util/cleanup.h"
#include "common/util/percent.h"

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
	uint64_t n = source->all->counters.samples;

	text_write(f, source->name);
	fprintf(f, ": %" PRIu64, n);
	if (source->by_process)
		fprintf(f, " of all %" PRIu64, n = profile_source_machine_samples(source));
	fprintf(f, " sample%s of ", text_plural(n));
	/* of windows merged, the name is left out where they differ */
	text_write(f, info->event           ? info->event :
		      source->windows.n > 1 ? "several events" :
					      "an unnamed event");
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

void summary_write_missing(FILE *f, const struct profile_source *source, const char *whose)
{
	struct missing missing = missing_of(source);

	if (missing.lost_percent >= MISSING_MIN_PERCENT)
		fprintf(f,
			"%s%.1f %% of the samples are missing: %" PRIu64
			" were lost or skipped%s\n",
			whose, missing.lost_percent, missing.lost,
			source->is_recording ? "" : "; branchctl status tells why");
	if (missing.estimated_percent >= MISSING_MIN_PERCENT)
		fprintf(f, "%s%.0f %% of the samples are estimated, as CpuBudget= left them out\n",
			whose, missing.estimated_percent);
	if (missing_has_estimated_stacks(&missing))
		fprintf(f,
			"%s%.0f %% of the samples were captured with their stacks, by "
			"CaptureShare=; all other stacks are estimated from those\n",
			whose, missing.captured_percent);
	if (missing.n_gaps > 0)
		fprintf(f, "%snot sampled for %.1f s of %.1f s, in %zu gap%s\n", whose,
			(double)missing.gaps_us / 1e6,
			(double)(missing.sampled_us + missing.gaps_us) / 1e6, missing.n_gaps,
			text_plural(missing.n_gaps));
	if (missing.n_removed > 0)
		fprintf(f, "%sthe windows of %.1f s in between were removed to free space\n", whose,
			(double)missing.removed_us / 1e6);
}

static int write_missing(FILE *f, const void *source)
{
	summary_write_missing(f, source, "");
	return 0;
}

void summary_say_missing(const struct profile_source *source, FILE *f)
{
	_cleanup_free_ char *text = text_of(write_missing, source);

	for (char *line = text, *end; line && (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		text_say(f, "%s", line);
	}
}

static void write_words(FILE *f, const char *name)
{
	for (; *name; name++)
		fputc(*name == '_' ? ' ' : *name, f);
}

/* "; skipped: 12 zero, 3 wrong path": the counters whose names begin with @prefix, but no totals.
 */
static void write_skipped(FILE *f, const struct profile_counters *counters, const char *prefix)
{
	size_t n_prefix = strlen(prefix), n = 0;

	for (size_t i = 0; i < N_COUNTERS; i++) {
		struct counter counter = counters_get(counters, i);

		if (strncmp(counter.name, prefix, n_prefix) != 0 || counter.value == 0 ||
		    strcmp(counter.name + n_prefix, "counted") == 0)
			continue;
		fprintf(f, "%s%" PRIu64 " ", n++ == 0 ? "; skipped: " : ", ", counter.value);
		write_words(f, counter.name + n_prefix);
	}
}

/* The part of what was counted that is not in any row of a table: see other.h. */
static void write_others(FILE *f, uint64_t others, uint64_t counted)
{
	if (others > 0)
		fprintf(f, ", %.1f %% of that as others: rare, and only kept by process and object",
			percent_of(others, counted));
}

static void write_rows(FILE *f, const struct profile_counters *counters,
		       const struct other_sums *others)
{
	if (counters->rows == 0)
		return;
	fprintf(f, "%" PRIu64 " branch record%s, %.1f %% counted", counters->rows,
		text_plural(counters->rows), percent_of(counters->rows_counted, counters->rows));
	write_others(f, others->taken, counters->rows_counted);
	write_skipped(f, counters, "rows_");
	fputc('\n', f);
}

static void write_runs(FILE *f, const struct profile_counters *counters,
		       const struct other_sums *others)
{
	if (counters->runs == 0)
		return;
	fprintf(f, "%" PRIu64 " run%s, %.1f %% counted", counters->runs,
		text_plural(counters->runs), percent_of(counters->runs_counted, counters->runs));
	write_others(f, others->runs, counters->runs_counted);
	write_skipped(f, counters, "runs_");
	fputc('\n', f);
}

/* The share of the samples that have a path, and the error bound of a path's samples. */
static void write_streams(FILE *f, const struct profile_counters *counters,
			  const struct other_sums *others)
{
	uint64_t all = counters->streams + counters->streams_invalid + counters->streams_limit;

	if (all == 0)
		return;
	fprintf(f, "%" PRIu64 " branch path%s, %.1f %% kept", all, text_plural(all),
		percent_of(counters->streams, all));
	write_others(f, others->hits, counters->streams);
	if (counters->streams_pruned > 0)
		fprintf(f, ", %.1f %% in part", percent_of(counters->streams_pruned, all));
	if (counters->streams_error > 0)
		fprintf(f, ", each to within %" PRIu64 " sample%s", counters->streams_error,
			text_plural(counters->streams_error));
	fputc('\n', f);
}

/* The call stacks that were stitched; those that were not, and why. */
static void write_stitching(FILE *f, const struct profile_counters *counters)
{
	const struct {
		uint64_t value;
		const char *what;
	} refused[] = {
		{ counters->stacks_unaligned, "unaligned" },
		{ counters->stacks_ambiguous, "ambiguous" },
		{ counters->stacks_inconsistent, "inconsistent" },
	};
	const char *separator = "; not: ";

	if (counters->stacks_stitched + counters->stacks_unaligned + counters->stacks_ambiguous +
		    counters->stacks_inconsistent ==
	    0)
		return;
	fprintf(f, "%" PRIu64 " stack%s stitched with earlier samples", counters->stacks_stitched,
		text_plural(counters->stacks_stitched));
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		if (refused[i].value == 0)
			continue;
		fprintf(f, "%s%" PRIu64 " %s", separator, refused[i].value, refused[i].what);
		separator = ", ";
	}
	fputc('\n', f);
}

/* The call stacks that were unwound; those that do not reach the start of their thread, and why. */
static void write_unwinding(FILE *f, const struct profile_source *source)
{
	const struct profile_counters *counters = &source->all->counters;
	const struct {
		uint64_t value;
		const char *what;
	} others[] = {
		{ counters->stacks_no_table, "without an unwind table" },
		{ counters->stacks_copy_end, "longer than the copied stack" },
		{ counters->stacks_no_return, "without a return address" },
		{ counters->stacks_bad_frame, "with a wrong frame" },
	};
	const char *separator = "; not: ";

	if (counters->stacks_unwound == 0)
		return;
	fprintf(f, "%s%" PRIu64 " stack%s unwound, %.1f %% to the start of the thread",
		source->filtered ? "of all: " : "", counters->stacks_unwound,
		text_plural(counters->stacks_unwound),
		percent_of(counters->stacks_complete, counters->stacks_unwound));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (others[i].value == 0)
			continue;
		fprintf(f, "%s%" PRIu64 " %s", separator, others[i].value, others[i].what);
		separator = ", ";
	}
	fputc('\n', f);
}

/* The other counters of trouble that are not 0. */
static void write_troubles(FILE *f, const struct profile_source *source)
{
	const struct profile_counters *counters = &source->all->counters;
	bool is_said = missing_of(source).estimated_percent >= MISSING_MIN_PERCENT;
	const struct {
		uint64_t value;
		const char *noun, *what;
	} troubles[] = {
		{ counters->samples_other_event, "sample", "of other events" },
		{ is_said ? 0 : counters->samples_estimated, "sample",
		  "estimated, as CpuBudget= left them out" },
		{ counters->samples_guest, "sample", "of virtual machines" },
		{ counters->samples_limit, "sample", "past the limit" },
		{ counters->stacks_pruned, "stack", "pruned" },
		{ counters->stacks_truncated, "stack", "truncated at an invalid frame pointer" },
		{ counters->stacks_depth_limit, "stack", "truncated at the depth limit" },
		{ counters->stacks_32_bit, "stack", "of programs of 32 bits, not unwound" },
		{ counters->stacks_since_switch, "stack", "begun at a task switch" },
		{ counters->unmapped, "sample", "at an unknown address" },
		{ counters->snapshots_empty, "sample", "without records" },
		{ counters->lost_records, "record", "lost" },
		{ counters->records_unknown, "record", "of an unknown kind" },
		{ counters->lost_samples, "sample", "lost" },
		{ counters->skipped, "sample", "skipped" },
		{ counters->throttled, "time", "throttled" },
		{ counters->out_of_order, "record", "out of order" },
	};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(troubles); i++)
		if (troubles[i].value > 0)
			fprintf(f, "%s%" PRIu64 " %s%s %s",
				n++ > 0          ? ", " :
				source->filtered ? "of all: " :
						   "",
				troubles[i].value, troubles[i].noun, text_plural(troubles[i].value),
				troubles[i].what);
	if (n > 0)
		fputc('\n', f);
}

static void write_stacks(FILE *f, const struct profile_source *source)
{
	write_stitching(f, &source->all->counters);
	write_unwinding(f, source);
	write_troubles(f, source);
}

static void write_own(FILE *f, const struct profile_source *source, enum view_by by)
{
	const struct profile_counters *counters = &source->all->counters;
	const struct other_sums others = other_sum_up(source->all);

	write_origin(f, source);
	summary_write_missing(f, source, "");
	if (by == VIEW_BLOCK)
		write_runs(f, counters, &others);
	else if (by == VIEW_STREAM)
		write_streams(f, counters, &others);
	else
		write_rows(f, counters, &others);
	if (!source->filtered)
		write_stacks(f, source);
}

static void write_part(FILE *f, const struct profile_source *source)
{
	const struct profile_counters *part = &source->part->counters;

	fprintf(f, "shown: %" PRIu64 " sample%s (%.1f %%)", part->samples,
		text_plural(part->samples),
		percent_of(part->samples, source->all->counters.samples));
	if (source->all->counters.rows > 0)
		fprintf(f, ", %" PRIu64 " branch record%s, %" PRIu64 " run%s", part->rows_counted,
			text_plural(part->rows_counted), part->runs_counted,
			text_plural(part->runs_counted));
	fputc('\n', f);
}

static int write_wrapped(struct output *output, const struct profile_source *source,
			 enum view_by by, bool others)
{
	_cleanup_free_ char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return -ENOMEM;
	write_own(f, source, by);
	if (others && source->filtered)
		write_stacks(f, source);
	if (others && source->part)
		write_part(f, source);
	if (fclose(f) != 0)
		return -ENOMEM;
	wrap_write(output->f, text, output->width, 2);
	return 0;
}

int summary_write_own(struct output *output, const struct profile_source *source, enum view_by by)
{
	return write_wrapped(output, source, by, false);
}

int summary_write(struct output *output, const struct profile_source *source, enum view_by by)
{
	return write_wrapped(output, source, by, true);
}
