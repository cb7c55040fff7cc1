/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/status/parts.h"

#include <inttypes.h>

#include "client/term/text.h"
#include "common/util/macro.h"
#include "common/util/percent.h"

#define MAX_OBJECTS 3    /* at whose code stacks end */
#define MIN_PERCENT 0.05 /* less is not worth a line */

static void write_rate(const struct status_text *s)
{
	uint64_t frequency = status_get(s, "sampling", "frequency");
	uint64_t period = status_get(s, "sampling", "period");
	uint64_t n_cpus = status_get(s, "sampling", "n_cpus");

	if (frequency > 0)
		fprintf(s->f, ", %" PRIu64 " Hz", frequency);
	else if (period == 1)
		fputs(", each one", s->f);
	else
		fprintf(s->f, ", one in %" PRIu64, period);
	fprintf(s->f, " on each of %" PRIu64 " CPU%s\n", n_cpus, text_plural(n_cpus));
}

/* The kind of branch records, and their number in a snapshot. */
static void write_records(const struct status_text *s)
{
	uint64_t depth = status_get(s, "sampling", "depth"),
		 n = status_get(s, "snapshots", "snapshots");
	const char *records = status_get_text(s, "sampling", "records");
	const char *filter = status_get_text(s, "sampling", "filter");

	status_begin(s, "");
	if (!*records && depth == 0) {
		fputs("branch records: none\n", s->f);
		return;
	}
	text_write(s->f, *records ? records : "branch records");
	fprintf(s->f, ", %" PRIu64 " records deep%s", depth, *filter ? ": " : "");
	text_write(s->f, filter);
	fputc('\n', s->f);
	if (n == 0)
		return;
	status_begin(s, "");
	fprintf(s->f, "%.1f records per snapshot; %.1f %% of the snapshots empty, %.1f %% full\n",
		(double)status_get(s, "snapshots", "rows") / (double)n,
		100 * (double)status_get(s, "snapshots", "empty") / (double)n,
		100 * (double)status_get(s, "snapshots", "full") / (double)n);
	status_count(s, "snapshots", "no_branch_stack", "sample", " came without branch records");
}

static void write_sampling(const struct status_text *s)
{
	status_begin(s, "sampling");
	if (!status_is_true(s, "sampling", "running")) {
		fputs("nothing\n", s->f);
		status_note(s, status_get_text(s, "sampling", "reason"));
		return;
	}
	text_write(s->f, status_get_text(s, "sampling", "mode"));
	fputs(", ", s->f);
	text_write(s->f, status_get_text(s, "sampling", "event"));
	write_rate(s);
	write_records(s);
	status_note(s, status_get_text(s, "sampling", "note"));
	status_note(s, status_get_text(s, "sampling", "reason"));
}

/* Of all samples that were due, as far as that is known. */
static void write_losses(const struct status_text *s)
{
	static const struct {
		const char *name, *what;
	} losses[] = {
		{ "ring_full", "lost because the ring was full" },
		{ "skipped", "skipped by the kernel" },
		{ "undecodable", "undecodable" },
		{ "no_ring", "lost while a CPU came or went" },
	};
	uint64_t due = status_get(s, "samples", "taken") + status_get(s, "samples", "skipped");
	size_t n = 0;

	status_begin(s, "missing");
	for (size_t i = 0; i < ARRAY_SIZE(losses); i++) {
		uint64_t value = status_get(s, "samples", losses[i].name);

		if (value == 0)
			continue;
		if (n++ > 0)
			status_begin(s, "");
		fprintf(s->f, "%" PRIu64 " %s, %.1f %%\n", value, losses[i].what,
			percent_of(value, due));
	}
	if (n == 0)
		fputs("nothing\n", s->f);
	status_count(s, "samples", "throttled", "time", " throttled by the kernel");
	status_count(s, "samples", "lost_records", "record", " of tasks lost");
	status_count(s, "samples", "out_of_order", "record", " out of order");
	if (status_get(s, "samples", "ring_full") > 0)
		status_note(s, "a larger RingSize= in branchd.conf loses fewer");
}

/* Stacks of user code that were unwound, and why others end before the start of their thread. */
static void write_stacks(const struct status_text *s)
{
	static const struct {
		const char *name, *why;
	} ends[] = {
		{ "no_table", "at code without an unwind table" },
		{ "stack_bytes", "at the end of the stack bytes that were copied" },
		{ "no_return_address", "at an invalid return address" },
		{ "invalid_frame", "at an invalid frame" },
		{ "depth_limit", "at the depth limit" },
	};
	uint64_t complete = status_get(s, "stacks", "complete"), all = complete, n;

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		all += status_get(s, "stacks", ends[i].name);
	if (all == 0)
		return;
	status_begin(s, "stacks");
	fprintf(s->f, "%.1f %% of %" PRIu64 " user stacks are complete\n",
		percent_of(complete, all), all);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		n = status_get(s, "stacks", ends[i].name);
		if (percent_of(n, all) < MIN_PERCENT)
			continue;
		status_begin(s, "");
		fprintf(s->f, "%.1f %% end %s\n", percent_of(n, all), ends[i].why);
	}
}

/* The objects at whose code most of the others end. */
static void write_incomplete(const struct status_text *s)
{
	const json_t *incomplete = status_find(s, "stacks", "incomplete");

	size_t n_all = json_array_size(incomplete), n_shown = MIN(n_all, (size_t)MAX_OBJECTS);

	for (size_t i = 0; i < n_shown; i++) {
		const json_t *object = json_array_get(incomplete, i);
		json_int_t n = json_integer_value(json_object_get(object, "stacks"));
		json_int_t n_no_table = json_integer_value(json_object_get(object, "no_table"));

		status_begin(s, "");
		fprintf(s->f, "%" JSON_INTEGER_FORMAT " %s in ", n,
			i > 0  ? "end" :
			n == 1 ? "stack ends" :
				 "stacks end");
		text_write(s->f, json_string_value(json_object_get(object, "path")) ?: "");
		if (n_no_table > 0)
			fprintf(s->f, ", %" JSON_INTEGER_FORMAT " of them without a table",
				n_no_table);
		fputc('\n', s->f);
	}
	if (n_all > n_shown) {
		status_begin(s, "");
		fprintf(s->f, "others end in %zu more object%s: see branchctl status --json\n",
			n_all - n_shown, text_plural(n_all - n_shown));
	}
}

static void write_counts(const struct status_text *s)
{
	uint64_t taken = status_get(s, "samples", "taken");
	uint64_t ticked = status_get(s, "samples", "ticked");
	double hot = json_number_value(status_find(s, "sampling", "hot_percent"));

	status_begin(s, "samples");
	fprintf(s->f, "%" PRIu64 " taken, %" PRIu64 " written\n", taken,
		status_get(s, "samples", "written"));
	if (ticked > 0) {
		status_begin(s, "");
		fprintf(s->f, "%.1f %% captured with their stacks, CaptureShare= is %g %%",
			100 * (double)(taken - MIN(ticked, taken)) / (double)taken,
			json_number_value(status_find(s, "sampling", "capture_percent")));
		if (hot > 0)
			fprintf(s->f, " of functions with HotShare= %g %%", hot);
		fputc('\n', s->f);
		status_count(s, "samples", "unticked", "sample",
			     " captured for want of room for another address");
	}
	status_count(s, "samples", "filtered", "sample",
		     " left out: of other processes, users or units");
	write_losses(s);
	write_stacks(s);
	write_incomplete(s);
	status_count(s, "stacks", "of_32_bit", "stack", " of programs of 32 bits, not unwound");
}

void status_write_samples(const struct status_text *s)
{
	write_sampling(s);
	write_counts(s);
}
