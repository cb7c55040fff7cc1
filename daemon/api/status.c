/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/api/status.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "common/json/json-text.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/heap/heap.h"

#define I(x) ((json_int_t)(x))

void status_add_problem(struct status *status, const char *text)
{
	if (!*text || status->n_problems == STATUS_MAX_PROBLEMS)
		return;
	snprintf(status->problems[status->n_problems++], sizeof(status->problems[0]), "%s", text);
}

void status_add_refused(struct status *status, const char *path, const char *reason)
{
	struct status_naming *naming = &status->naming;
	struct status_refused *refused = &naming->refused[naming->n_refused];

	if (naming->n_refused == STATUS_MAX_REFUSED)
		return;
	snprintf(refused->path, sizeof(refused->path), "%s", path);
	snprintf(refused->reason, sizeof(refused->reason), "%s", reason);
	naming->n_refused++;
}

static json_t *sampling_json(const struct status *s)
{
	const struct sampler_probe *p = &s->probe;
	bool runs = s->running;

	return json_pack("{sb so so sI sI sf sf sI so sI so so so}", "running", runs, "mode",
			 json_text(runs ? sampler_mode_name(p->mode) : "none"), "event",
			 json_text(runs ? p->event : ""), "frequency", I(s->frequency), "period",
			 I(runs ? p->period : 0), "capture_percent", 100 * s->capture,
			 "hot_percent", 100 * s->hot, "n_cpus", I(s->samples.n_cpus), "records",
			 json_text(runs ? p->records : ""), "depth", I(runs ? p->depth : 0),
			 "filter", json_text(runs ? p->filter : ""), "note",
			 json_text(runs ? p->note : ""), "reason",
			 json_text(runs ? p->why_not_better : s->why_not));
}

static json_t *samples_json(const struct sampler_counts *c)
{
	return json_pack("{sI sI sI sI sI sI sI sI sI sI sI sI}", "taken", I(c->taken), "filtered",
			 I(c->filtered), "written", I(c->written), "ticked", I(c->ticked),
			 "unticked", I(c->unticked), "ring_full", I(c->ring_full), "no_ring",
			 I(c->no_ring), "undecodable", I(c->undecodable), "skipped", I(c->skipped),
			 "throttled", I(c->throttled), "lost_records", I(c->lost_records),
			 "out_of_order", I(c->out_of_order));
}

static json_t *snapshots_json(const struct sampler_counts *c)
{
	return json_pack("{sI sI sI sI sI sI sI sI}", "snapshots", I(c->snapshots), "empty",
			 I(c->snapshots_empty), "full", I(c->snapshots_full), "rows", I(c->rows),
			 "rows_kernel", I(c->rows_kernel), "no_branch_stack", I(c->no_branch_stack),
			 "enabled_us", I(c->enabled_ns / 1000), "running_us",
			 I(c->running_ns / 1000));
}

/* The paths of other users' files are for privileged callers only. */
static json_t *short_stacks_json(const struct status *s, bool privileged)
{
	json_t *all = json_array();

	for (size_t i = 0; all && privileged && i < s->n_short; i++)
		json_array_append_new(all, json_pack("{so sI sI}", "path",
						     json_text(s->short_stacks[i].path), "stacks",
						     I(s->short_stacks[i].n), "no_table",
						     I(s->short_stacks[i].n_no_table)));
	return all;
}

static json_t *kept_json(const struct kept_files_counts *c)
{
	return json_pack("{sI sI sI sI sI sI}", "found", I(c->found), "built", I(c->built),
			 "damaged", I(c->damaged), "not_written", I(c->not_written), "files",
			 I(c->files), "bytes", I(c->bytes));
}

static json_t *stacks_json(const struct status *s, bool privileged)
{
	const struct live_unwinder_counts *c = &s->stacks;

	return json_pack("{sI sI sI sI sI sI sI sI sI sI sI so so}", "complete",
			 I(c->ended[UNWIND_COMPLETE]), "no_table", I(c->ended[UNWIND_NO_TABLE]),
			 "stack_bytes", I(c->ended[UNWIND_STACK]), "no_return_address",
			 I(c->ended[UNWIND_NO_RETURN]), "invalid_frame", I(c->ended[UNWIND_FRAME]),
			 "depth_limit", I(c->ended[UNWIND_DEPTH]), "frames_by_pointer",
			 I(c->n_by_fp), "of_32_bit", I(c->n_32_bit), "waited", I(c->n_kept),
			 "tables", I(c->n_tables), "table_bytes", I(c->table_bytes), "disk",
			 kept_json(&s->tables), "incomplete", short_stacks_json(s, privileged));
}

/* null where there is none. */
static json_t *percent_json(double share)
{
	return share > 0 ? json_real(100 * share) : json_null();
}

static json_t *cost_json(const struct status *s)
{
	const struct sampler_counts *c = &s->samples;
	struct rusage usage = {};
	uint64_t cpu_us;

	getrusage(RUSAGE_SELF, &usage);
	cpu_us = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
		 (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
	return json_pack("{sI sI sI sI so so sf sb so so}", "bpf_ns", I(c->bpf_ns), "bpf_runs",
			 I(c->bpf_runs), "cpu_us", I(cpu_us), "rss_bytes", I(heap_resident_bytes()),
			 "budget_percent", percent_json(s->budget), "sampling_percent",
			 percent_json(s->share), "rate_percent", 100 / MAX(s->scale, 1),
			 "throttled", s->throttled, "hour_sampling_percent",
			 percent_json(s->hour_share), "hour_rate_percent",
			 percent_json(s->hour_taken));
}

static json_t *time_json(uint64_t us)
{
	return us ? json_integer(I(us)) : json_null();
}

static json_t *tiers_json(const struct store_tiers *tiers)
{
	json_t *all = json_array();

	for (size_t i = 0; all && i < tiers->n; i++)
		json_array_append_new(all,
				      json_pack("{sI sI}", "length_us", I(tiers->rows[i].length_us),
						"keep_us", I(tiers->rows[i].keep_us)));
	return all;
}

static json_t *store_json(const struct status *s)
{
	const struct store_status *store = &s->store;

	return json_pack("{sI sI sI sI sI sI sI so so so so}", "bytes", I(store->n_bytes),
			 "max_bytes", I(store->max_bytes), "window_us", I(s->window_us), "windows",
			 I(store->n_windows), "waiting", I(s->archive.waiting), "removed",
			 I(store->n_removed), "given_up", I(s->archive.given_up), "first_us",
			 time_json(store->first_us), "last_us", time_json(store->last_us),
			 "set_aside", json_text(*store->moved_to ? store->moved_to : NULL), "tiers",
			 tiers_json(&store->tiers));
}

static json_t *server_json(const struct server_counts *c)
{
	return json_pack("{sI sI sI sI sI sI sI sI sI sI}", "open", I(c->open), "connections",
			 I(c->connections), "calls", I(c->calls), "errors", I(c->errors),
			 "pending_bytes", I(c->pending_bytes), "refused_connections",
			 I(c->refused_connections), "refused_replies", I(c->refused_replies),
			 "too_long", I(c->too_long), "not_understood", I(c->not_understood),
			 "stalled", I(c->stalled));
}

static json_t *helper_json(const struct status_helper *h)
{
	return json_pack("{sI sI sI}", "connected", I(h->connected), "refused", I(h->refused),
			 "failed", I(h->failed));
}

static json_t *helpers_json(const struct status *s)
{
	return json_pack("{so so so}", "opener", helper_json(&s->opener), "parser",
			 helper_json(&s->parser), "events", helper_json(&s->events));
}

/* The paths of other users' files are for privileged callers only. */
static json_t *refused_json(const struct status_naming *n, bool privileged)
{
	json_t *all = json_array();

	for (size_t i = 0; all && privileged && i < n->n_refused; i++)
		json_array_append_new(all,
				      json_pack("{so so}", "path", json_text(n->refused[i].path),
						"reason", json_text(n->refused[i].reason)));
	return all;
}

static json_t *naming_json(const struct status *s, bool privileged)
{
	const struct status_naming *n = &s->naming;

	return json_pack(
		"{sI sI sI sI sI sI sI sI sI sI sI so so}", "behind", I(n->behind), "parsers_died",
		I(n->parsers_died), "parsers_cpu", I(n->parsers_cpu), "parsers_timeout",
		I(n->parsers_timeout), "parsers_answer", I(n->parsers_answer), "openers_timeout",
		I(n->openers_timeout), "files_remote", I(n->files_remote), "files_skipped",
		I(n->files_skipped), "files_dropped", I(n->files_dropped), "files_deferred",
		I(n->files_deferred), "lines_malformed", I(n->lines_malformed), "kernel_symbols",
		kept_json(&s->symbols), "refused", refused_json(n, privileged));
}

static json_t *problems_json(const struct status *s)
{
	json_t *problems = json_array();

	for (size_t i = 0; problems && i < s->n_problems; i++)
		json_array_append_new(problems, json_text(s->problems[i]));
	return problems;
}

json_t *status_json(const struct status *status, bool privileged)
{
	char hostname[256] = "";

	gethostname(hostname, sizeof(hostname) - 1);
	return json_pack(
		"{ss so sI sI sb so so so so so so so so so sI so}", "version", BRANCHD_VERSION,
		"hostname", json_text(hostname), "started_us", I(status->started_us), "now_us",
		I(clock_us(CLOCK_REALTIME)), "privileged", privileged, "sampling",
		sampling_json(status), "samples", samples_json(&status->samples), "snapshots",
		snapshots_json(&status->samples), "stacks", stacks_json(status, privileged), "cost",
		cost_json(status), "store", store_json(status), "server",
		server_json(&status->server), "helpers", helpers_json(status), "naming",
		naming_json(status, privileged), "unnamed_objects", I(status->unnamed_objects),
		"problems", problems_json(status));
}
