/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/status-text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "client/source/time-spec.h"
#include "client/term/color.h"
#include "client/term/text.h"
#include "client/term/wrap.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"

#define INDENT   10  /* of what is said of a word */
#define EXCEEDED 1.2 /* times a budget: it is not held */

struct status {
	const json_t *json;
	FILE *f;
	bool colors;
	uint64_t now_us;
};

static const json_t *find(const struct status *s, const char *part, const char *name)
{
	const json_t *object = part ? json_object_get(s->json, part) : s->json;

	return json_object_get(object, name);
}

/* 0 where it is missing. */
static uint64_t get(const struct status *s, const char *part, const char *name)
{
	json_int_t value = json_integer_value(find(s, part, name));

	return value > 0 ? (uint64_t)value : 0;
}

/* "" where it is missing. */
static const char *get_text(const struct status *s, const char *part, const char *name)
{
	return json_string_value(find(s, part, name)) ?: "";
}

static bool is_true(const struct status *s, const char *part, const char *name)
{
	return json_is_true(find(s, part, name));
}

static void begin(const struct status *s, const char *word)
{
	fprintf(s->f, "%s%-*s%s", COLOR_BOLD(s->colors), INDENT, word, COLOR_RESET(s->colors));
}

/* A line of its own, unless the text is empty. */
static void write_note(const struct status *s, const char *text)
{
	if (*text == '\0')
		return;
	begin(s, "");
	text_write(s->f, text);
	fputc('\n', s->f);
}

static void write_bytes(const struct status *s, uint64_t n)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	double value = (double)n;
	size_t unit = 0;

	for (; value >= 1024 && unit + 1 < ARRAY_SIZE(units); unit++)
		value /= 1024;
	fprintf(s->f, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
}

/* "3 days 4 h", "3 h 12 min", "12 min 5 s", "5 s" */
static void write_duration(const struct status *s, uint64_t us)
{
	uint64_t seconds = us / 1000000;

	if (seconds >= 2 * 86400)
		fprintf(s->f, "%" PRIu64 " days %" PRIu64 " h", seconds / 86400,
			seconds / 3600 % 24);
	else if (seconds >= 3600)
		fprintf(s->f, "%" PRIu64 " h %" PRIu64 " min", seconds / 3600, seconds / 60 % 60);
	else if (seconds >= 60)
		fprintf(s->f, "%" PRIu64 " min %" PRIu64 " s", seconds / 60, seconds % 60);
	else
		fprintf(s->f, "%.*f s", us % 1000000 ? 1 : 0, (double)us / 1e6);
}

static void write_time(const struct status *s, uint64_t us)
{
	char text[TIME_SPEC_TEXT_MAX];

	fputs(time_spec_format(text, us, s->now_us), s->f);
}

static void write_head(const struct status *s)
{
	uint64_t started = get(s, NULL, "started_us");

	begin(s, "branchd");
	text_write(s->f, get_text(s, NULL, "version"));
	fputs(" on ", s->f);
	text_write(s->f, get_text(s, NULL, "hostname"));
	fputs(", since ", s->f);
	write_time(s, started);
	fputs(" (", s->f);
	write_duration(s, s->now_us > started ? s->now_us - started : 0);
	fputs(")\n", s->f);
	if (!is_true(s, NULL, "privileged"))
		write_note(s,
			   "you see only your own processes; root and the group branchd see all");
}

static void write_count(const struct status *s, const char *part, const char *name,
			const char *noun, const char *what)
{
	uint64_t n = get(s, part, name);

	if (n == 0)
		return;
	begin(s, "");
	fprintf(s->f, "%" PRIu64 " %s%s%s\n", n, noun, text_plural(n), what);
}

static void write_rate(const struct status *s)
{
	uint64_t frequency = get(s, "sampling", "frequency");
	uint64_t period = get(s, "sampling", "period");
	uint64_t n_cpus = get(s, "sampling", "n_cpus");

	if (frequency > 0)
		fprintf(s->f, ", %" PRIu64 " Hz", frequency);
	else if (period == 1)
		fputs(", each one", s->f);
	else
		fprintf(s->f, ", one in %" PRIu64, period);
	fprintf(s->f, " on each of %" PRIu64 " CPU%s\n", n_cpus, text_plural(n_cpus));
}

/* The kind of branch records, and their number in a snapshot. */
static void write_records(const struct status *s)
{
	uint64_t depth = get(s, "sampling", "depth"), n = get(s, "snapshots", "snapshots");
	const char *records = get_text(s, "sampling", "records");
	const char *filter = get_text(s, "sampling", "filter");

	begin(s, "");
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
	begin(s, "");
	fprintf(s->f, "%.1f records per snapshot; %.1f %% of the snapshots empty, %.1f %% full\n",
		(double)get(s, "snapshots", "rows") / (double)n,
		100 * (double)get(s, "snapshots", "empty") / (double)n,
		100 * (double)get(s, "snapshots", "full") / (double)n);
	write_count(s, "snapshots", "no_branch_stack", "sample", " came without branch records");
}

static void write_sampling(const struct status *s)
{
	begin(s, "sampling");
	if (!is_true(s, "sampling", "running")) {
		fputs("nothing\n", s->f);
		write_note(s, get_text(s, "sampling", "reason"));
		return;
	}
	text_write(s->f, get_text(s, "sampling", "mode"));
	fputs(", ", s->f);
	text_write(s->f, get_text(s, "sampling", "event"));
	write_rate(s);
	write_records(s);
	write_note(s, get_text(s, "sampling", "note"));
	write_note(s, get_text(s, "sampling", "reason"));
}

static void write_losses(const struct status *s)
{
	static const struct {
		const char *name, *what;
	} losses[] = {
		{ "ring_full", "lost because the ring was full" },
		{ "skipped", "skipped by the kernel" },
		{ "undecodable", "undecodable" },
		{ "no_ring", "lost while a CPU came or went" },
		{ "lost_records", "task records lost" },
		{ "out_of_order", "records out of order" },
		{ "throttled", "times throttled" },
	};
	size_t n = 0;

	begin(s, "missing");
	for (size_t i = 0; i < ARRAY_SIZE(losses); i++) {
		uint64_t value = get(s, "samples", losses[i].name);

		if (value > 0)
			fprintf(s->f, "%s%" PRIu64 " %s", n++ > 0 ? ", " : "", value,
				losses[i].what);
	}
	fputs(n > 0 ? "\n" : "nothing\n", s->f);
	if (get(s, "samples", "ring_full") > 0)
		write_note(s, "a larger RingSize= in branchd.conf loses fewer");
}

/* Stacks of user code that were unwound, and why others end before the start of their thread. */
static void write_stacks(const struct status *s)
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
	uint64_t complete = get(s, "stacks", "complete"), all = complete, n;

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		all += get(s, "stacks", ends[i].name);
	if (all == 0)
		return;
	begin(s, "stacks");
	fprintf(s->f, "%.1f %% of %" PRIu64 " user stacks are complete\n",
		100 * (double)complete / (double)all, all);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		n = get(s, "stacks", ends[i].name);
		if (n == 0)
			continue;
		begin(s, "");
		fprintf(s->f, "%.1f %% end %s\n", 100 * (double)n / (double)all, ends[i].why);
	}
}

/* The objects at whose code most of the others end. */
static void write_incomplete(const struct status *s)
{
	const json_t *incomplete = find(s, "stacks", "incomplete");

	for (size_t i = 0; i < json_array_size(incomplete); i++) {
		const json_t *object = json_array_get(incomplete, i);
		json_int_t n = json_integer_value(json_object_get(object, "stacks"));
		json_int_t n_no_table = json_integer_value(json_object_get(object, "no_table"));

		begin(s, "");
		fprintf(s->f, "%" JSON_INTEGER_FORMAT " end in ", n);
		text_write(s->f, json_string_value(json_object_get(object, "path")) ?: "");
		if (n_no_table > 0)
			fprintf(s->f, ", %" JSON_INTEGER_FORMAT " without a table", n_no_table);
		fputc('\n', s->f);
	}
}

static void write_samples(const struct status *s)
{
	begin(s, "samples");
	fprintf(s->f, "%" PRIu64 " taken, %" PRIu64 " written\n", get(s, "samples", "taken"),
		get(s, "samples", "written"));
	write_count(s, "samples", "filtered", "sample",
		    " left out: of other processes, users or units");
	write_losses(s);
	write_stacks(s);
	write_incomplete(s);
	write_count(s, "stacks", "of_32_bit", "stack", " of programs of 32 bits, not unwound");
}

/* What sampling takes, and at which rate that is. */
static void write_budget(const struct status *s)
{
	double share = json_number_value(find(s, "cost", "sampling_percent"));
	double budget = json_number_value(find(s, "cost", "budget_percent"));
	double rate = json_number_value(find(s, "cost", "rate_percent"));

	begin(s, "cost");
	if (share > 0)
		fprintf(s->f, "sampling: %.2f %% of each CPU in the last windows", share);
	else
		fputs("sampling: not known before the third window", s->f);
	if (budget > 0)
		fprintf(s->f, ", CpuBudget= is %g %%", budget);
	fputc('\n', s->f);
	if (rate <= 0 || rate >= 100)
		return;
	begin(s, "");
	fprintf(s->f, "one sample in %.3g is taken, and counts as that many%s\n", 100 / rate,
		share > EXCEEDED * budget ? "; the rest of the cost is that of what runs" :
					    ", to hold that budget");
}

static void write_cost(const struct status *s)
{
	uint64_t started = get(s, NULL, "started_us");
	double elapsed_us = s->now_us > started ? (double)(s->now_us - started) : 1;
	double all_us = elapsed_us * (double)MAX(get(s, "sampling", "n_cpus"), (uint64_t)1);
	uint64_t runs = get(s, "cost", "bpf_runs"), bpf_ns = get(s, "cost", "bpf_ns");

	write_budget(s);
	begin(s, "");
	fprintf(s->f, "branchd: %.2f %% of each CPU since it started, ",
		100 * (double)get(s, "cost", "cpu_us") / all_us);
	write_bytes(s, get(s, "cost", "rss_bytes"));
	fputs(" of memory\n", s->f);
	write_note(s, "its helpers are not included");
	if (runs == 0)
		return;
	begin(s, "");
	fprintf(s->f, "BPF program: %.2f %% of each CPU since then, %.1f us per sample\n",
		(double)bpf_ns / 10 / all_us, (double)bpf_ns / 1e3 / (double)runs);
}

static void write_store(const struct status *s)
{
	uint64_t first = get(s, "store", "first_us"), last = get(s, "store", "last_us");
	uint64_t n = get(s, "store", "windows");
	const char *set_aside = get_text(s, "store", "set_aside");

	begin(s, "store");
	fprintf(s->f, "%" PRIu64 " window%s of ", n, text_plural(n));
	write_duration(s, get(s, "store", "window_us"));
	if (first > 0) {
		fputs(", ", s->f);
		write_time(s, first);
		fputs(" to ", s->f);
		write_time(s, last);
	}
	fputc('\n', s->f);
	begin(s, "");
	write_bytes(s, get(s, "store", "bytes"));
	if (get(s, "store", "max_bytes") > 0) {
		fputs(" of at most ", s->f);
		write_bytes(s, get(s, "store", "max_bytes"));
	}
	fputc('\n', s->f);
	write_count(s, "store", "waiting", "window", " not written yet");
	write_count(s, "store", "removed", "window", " removed to free space");
	write_count(s, "store", "given_up", "window", " lost: the database could not be written");
	if (*set_aside) {
		begin(s, "");
		fputs("an unusable database was moved to ", s->f);
		text_write(s->f, set_aside);
		fputc('\n', s->f);
	}
}

static void write_server(const struct status *s)
{
	uint64_t n_calls = get(s, "server", "calls");

	begin(s, "clients");
	fprintf(s->f, "%" PRIu64 " connected; %" PRIu64 " call%s so far, %" PRIu64 " in error\n",
		get(s, "server", "open"), n_calls, text_plural(n_calls),
		get(s, "server", "errors"));
	write_count(s, "server", "refused_connections", "connection", " refused: too many");
	write_count(s, "server", "refused_replies", "answer", " refused: too large");
	write_count(s, "server", "too_long", "connection", " closed: call too long");
	write_count(s, "server", "not_understood", "connection", " closed: invalid call");
	write_count(s, "server", "stalled", "connection", " closed: timed out");
}

/* Of the others "naming" says why they failed. */
static void write_helper(const struct status *s, const char *name, bool says_why, size_t *n)
{
	const json_t *helper = find(s, "helpers", name);
	json_int_t refused = json_integer_value(json_object_get(helper, "refused"));
	json_int_t failed = json_integer_value(json_object_get(helper, "failed"));

	if (says_why)
		failed = 0;
	if (refused <= 0 && failed <= 0)
		return;
	begin(s, (*n)++ == 0 ? "helpers" : "");
	fprintf(s->f, "branchd-%s", name);
	if (refused > 0)
		fprintf(s->f, " could not be reached %" JSON_INTEGER_FORMAT " %s%s", refused,
			refused == 1 ? "time" : "times", failed > 0 ? "," : "");
	if (failed > 0)
		fprintf(s->f, " died or hung %" JSON_INTEGER_FORMAT " %s", failed,
			failed == 1 ? "time" : "times");
	fputc('\n', s->f);
}

static void write_helpers(const struct status *s)
{
	size_t n = 0;

	write_helper(s, "opener", true, &n);
	write_helper(s, "parser", true, &n);
	write_helper(s, "events", false, &n);
}

static void write_counts_of_naming(const struct status *s, size_t *n)
{
	static const struct {
		const char *name, *one, *many;
	} counts[] = {
		{ "behind", "window waits for its names", "windows wait for their names" },
		{ "parsers_died", "parser crashed or was killed",
		  "parsers crashed or were killed" },
		{ "parsers_cpu", "parser was ended: its file took too much CPU time",
		  "parsers were ended: their files took too much CPU time" },
		{ "parsers_timeout", "parser was ended: it did not answer in time",
		  "parsers were ended: they did not answer in time" },
		{ "parsers_answer", "parser was ended: it answered wrongly",
		  "parsers were ended: they answered wrongly" },
		{ "openers_timeout",
		  "opener was ended: it did not answer in time (does a file system hang?)",
		  "openers were ended: they did not answer in time (does a file system hang?)" },
		{ "files_skipped", "file was not tried: its file system had not answered before",
		  "files were not tried: their file systems had not answered before" },
		{ "files_remote",
		  "file is not opened: it is on a network file system or FUSE; see "
		  "RemoteFilesystems= in branchd.conf(5)",
		  "files are not opened: they are on network file systems or FUSE; see "
		  "RemoteFilesystems= in branchd.conf(5)" },
		{ "files_dropped", "mapped file was dropped: too many came at once",
		  "mapped files were dropped: too many came at once" },
		{ "files_deferred",
		  "file waits for the next window: one may read only a limited number",
		  "files wait for the next window: one may read only a limited number" },
		{ "lines_malformed", "line of a JIT map, /tmp/perf-PID.map, names no function",
		  "lines of JIT maps, /tmp/perf-PID.map, name no function" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		uint64_t value = get(s, "naming", counts[i].name);

		if (value == 0)
			continue;
		begin(s, (*n)++ == 0 ? "naming" : "");
		fprintf(s->f, "%" PRIu64 " %s\n", value,
			value == 1 ? counts[i].one : counts[i].many);
	}
}

static void write_naming(const struct status *s)
{
	const json_t *refused = find(s, "naming", "refused");
	size_t n = 0;

	write_counts_of_naming(s, &n);
	for (size_t i = 0; i < json_array_size(refused); i++) {
		const json_t *object = json_array_get(refused, i);

		begin(s, n++ == 0 ? "naming" : "");
		text_write(s->f, json_string_value(json_object_get(object, "path")) ?: "");
		fputs(" has no names: ", s->f);
		text_write(s->f, json_string_value(json_object_get(object, "reason")) ?: "");
		fputc('\n', s->f);
	}
}

static void write_problems(const struct status *s)
{
	const json_t *problems = find(s, NULL, "problems");
	size_t n = json_array_size(problems);
	uint64_t n_unnamed = get(s, NULL, "unnamed_objects");

	if (n_unnamed > 0) {
		begin(s, "symbols");
		fprintf(s->f, "%" PRIu64 " object%s without symbols\n", n_unnamed,
			text_plural(n_unnamed));
	}
	for (size_t i = 0; i < n; i++) {
		begin(s, i == 0 ? "problems" : "");
		text_write(s->f, json_string_value(json_array_get(problems, i)) ?: "");
		fputc('\n', s->f);
	}
}

int status_write_text(const json_t *status, struct output *output)
{
	_cleanup_free_ char *text = NULL;
	size_t n;
	struct status s = { .json = status, .colors = output->colors };

	s.f = open_memstream(&text, &n);
	if (!s.f)
		return -ENOMEM;
	s.now_us = get(&s, NULL, "now_us");
	write_head(&s);
	write_sampling(&s);
	write_samples(&s);
	write_cost(&s);
	write_store(&s);
	write_server(&s);
	write_helpers(&s);
	write_naming(&s);
	write_problems(&s);
	if (fclose(s.f) != 0)
		return -ENOMEM;
	wrap_write(output->f, text, output->width, INDENT);
	return 0;
}
