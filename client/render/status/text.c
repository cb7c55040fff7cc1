/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/status/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>

#include "client/render/status/parts.h"
#include "client/term/text.h"
#include "client/term/wrap.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"

#define EXCEEDED     1.2 /* times a budget: it is not held */
#define TIERS_A_LINE 2   /* the default ones fit into 80 columns so */

static uint64_t value_of(const json_t *object, const char *name)
{
	return (uint64_t)MAX(json_integer_value(json_object_get(object, name)), (json_int_t)0);
}

static void write_head(const struct status_text *s)
{
	uint64_t started = status_get(s, NULL, "started_us");

	status_begin(s, "branchd");
	text_write(s->f, status_get_text(s, NULL, "version"));
	fputs(" on ", s->f);
	text_write(s->f, status_get_text(s, NULL, "hostname"));
	fputs(", since ", s->f);
	status_write_time(s, started);
	fputs(" (", s->f);
	status_write_duration(s, s->now_us > started ? s->now_us - started : 0);
	fputs(")\n", s->f);
	if (!status_is_true(s, NULL, "privileged"))
		status_note(s,
			    "you see only your own processes; root and the group branchd see all");
}

/* Of a rate that was lowered. */
static const char *why_slower(const struct status_text *s, double share, double budget)
{
	if (share > EXCEEDED * budget)
		return "; the rest of the cost is that of what runs";
	if (status_is_true(s, "cost", "throttled"))
		return ", as the kernel throttles";
	return ", to hold that budget";
}

/* What sampling takes, and at which rate that is. */
static void write_budget(const struct status_text *s)
{
	double share = json_number_value(status_find(s, "cost", "sampling_percent"));
	double budget = json_number_value(status_find(s, "cost", "budget_percent"));
	double rate = json_number_value(status_find(s, "cost", "rate_percent"));
	double hour = json_number_value(status_find(s, "cost", "hour_sampling_percent"));

	status_begin(s, "cost");
	if (share > 0)
		fprintf(s->f, "sampling: %.2f %% of each CPU in the last windows", share);
	else
		fputs("sampling: not known before the third window", s->f);
	if (budget > 0)
		fprintf(s->f, ", CpuBudget= is %g %%", budget);
	fputc('\n', s->f);
	if (hour > 0) {
		status_begin(s, "");
		fprintf(s->f,
			"in the last hour: %.2f %% of each CPU, %.3g %% of samples due taken\n",
			hour, json_number_value(status_find(s, "cost", "hour_rate_percent")));
	}
	if (rate <= 0 || rate >= 100)
		return;
	status_begin(s, "");
	fprintf(s->f, "one sample in %.3g is taken, and counts as that many%s\n", 100 / rate,
		why_slower(s, share, budget));
}

static void write_cost(const struct status_text *s)
{
	uint64_t started = status_get(s, NULL, "started_us");
	double elapsed_us = s->now_us > started ? (double)(s->now_us - started) : 1;
	double all_us = elapsed_us * (double)MAX(status_get(s, "sampling", "n_cpus"), (uint64_t)1);
	uint64_t runs = status_get(s, "cost", "bpf_runs"), bpf_ns = status_get(s, "cost", "bpf_ns");
	uint64_t taken = status_get(s, "samples", "taken");

	write_budget(s);
	status_begin(s, "");
	fprintf(s->f, "branchd: %.2f %% of each CPU since it started, ",
		100 * (double)status_get(s, "cost", "cpu_us") / all_us);
	status_write_bytes(s, status_get(s, "cost", "rss_bytes"));
	fputs(" of memory\n", s->f);
	if (taken > 0) {
		status_begin(s, "");
		fprintf(s->f, "branchd: %.1f us per sample\n",
			(double)status_get(s, "cost", "cpu_us") / (double)taken);
	}
	status_note(s, "its helpers are not included");
	if (runs == 0)
		return;
	status_begin(s, "");
	fprintf(s->f, "BPF program: %.2f %% of each CPU since then, %.1f us per sample\n",
		(double)bpf_ns / 10 / all_us, (double)bpf_ns / 1e3 / (double)runs);
}

/* How far back windows of which length reach. */
static void write_tiers(const struct status_text *s)
{
	const json_t *tiers = status_find(s, "store", "tiers");

	for (size_t i = 0; i < json_array_size(tiers); i++) {
		const json_t *tier = json_array_get(tiers, i);

		if (i % TIERS_A_LINE == 0) {
			fputs(i > 0 ? ",\n" : "", s->f);
			status_begin(s, "");
		}
		fputs(i == 0 ? "windows of " : i % TIERS_A_LINE == 0 ? "of " : ", of ", s->f);
		status_write_duration(s, value_of(tier, "length_us"));
		fputs(" for ", s->f);
		status_write_duration(s, value_of(tier, "keep_us"));
	}
	fputs(json_array_size(tiers) > 0 ? "\n" : "", s->f);
}

static void write_store(const struct status_text *s)
{
	uint64_t first = status_get(s, "store", "first_us"),
		 last = status_get(s, "store", "last_us");
	uint64_t n = status_get(s, "store", "windows");
	const char *set_aside = status_get_text(s, "store", "set_aside");

	status_begin(s, "store");
	fprintf(s->f, "%" PRIu64 " window%s of ", n, text_plural(n));
	status_write_duration(s, status_get(s, "store", "window_us"));
	if (first > 0) {
		fputs(", ", s->f);
		status_write_time(s, first);
		fputs(" to ", s->f);
		status_write_time(s, last);
	}
	fputc('\n', s->f);
	status_begin(s, "");
	status_write_bytes(s, status_get(s, "store", "bytes"));
	if (status_get(s, "store", "max_bytes") > 0) {
		fputs(" of at most ", s->f);
		status_write_bytes(s, status_get(s, "store", "max_bytes"));
	}
	if (json_array_size(status_find(s, "store", "tiers")) > 0)
		fputs("; while there is room it keeps", s->f);
	fputc('\n', s->f);
	write_tiers(s);
	status_count(s, "store", "waiting", "window", " not written yet");
	status_count(s, "store", "removed", "window", " removed to free space");
	status_count(s, "store", "given_up", "window", " lost: the database could not be written");
	if (*set_aside) {
		status_begin(s, "");
		fputs("an unusable database was moved to ", s->f);
		text_write(s->f, set_aside);
		fputc('\n', s->f);
	}
}

static void write_server(const struct status_text *s)
{
	uint64_t n_calls = status_get(s, "server", "calls");

	status_begin(s, "clients");
	fprintf(s->f, "%" PRIu64 " connected; %" PRIu64 " call%s so far, %" PRIu64 " in error\n",
		status_get(s, "server", "open"), n_calls, text_plural(n_calls),
		status_get(s, "server", "errors"));
	status_count(s, "server", "refused_connections", "connection", " refused: too many");
	status_count(s, "server", "refused_replies", "answer", " refused: too large");
	status_count(s, "server", "too_long", "connection", " closed: call too long");
	status_count(s, "server", "not_understood", "connection", " closed: invalid call");
	status_count(s, "server", "stalled", "connection", " closed: timed out");
}

static void write_problems(const struct status_text *s)
{
	const json_t *problems = status_find(s, NULL, "problems");
	size_t n = json_array_size(problems);
	uint64_t n_unnamed = status_get(s, NULL, "unnamed_objects");

	if (n_unnamed > 0) {
		status_begin(s, "symbols");
		fprintf(s->f, "%" PRIu64 " object%s without symbols\n", n_unnamed,
			text_plural(n_unnamed));
	}
	for (size_t i = 0; i < n; i++) {
		status_begin(s, i == 0 ? "problems" : "");
		text_write(s->f, json_string_value(json_array_get(problems, i)) ?: "");
		fputc('\n', s->f);
	}
}

int status_write_text(const json_t *status, struct output *output)
{
	_cleanup_free_ char *text = NULL;
	size_t n;
	struct status_text s = { .json = status, .colors = output->colors };

	s.f = open_memstream(&text, &n);
	if (!s.f)
		return -ENOMEM;
	s.now_us = status_get(&s, NULL, "now_us");
	write_head(&s);
	status_write_samples(&s);
	write_cost(&s);
	write_store(&s);
	write_server(&s);
	status_write_helpers(&s);
	write_problems(&s);
	if (fclose(s.f) != 0)
		return -ENOMEM;
	wrap_write(output->f, text, output->width, STATUS_INDENT);
	return 0;
}
