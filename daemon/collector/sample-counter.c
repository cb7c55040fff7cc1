/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/collector/sample-counter.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "bpf/sample.h"
#include "common/profile/spread.h"
#include "common/util/clock.h"
#include "daemon/collector/live-callchain.h"
#include "daemon/sampler/running-kernel.h"

/* Most streams are seen once in a window, and would take more space than all other counts. */
#define RARE_STREAMS 1

/* A window of a small machine must not take much memory. */
#define FRAMES_OF_CPU (16u * 1024)
#define MIN_FRAMES    (64u * 1024)
#define MAX_FRAMES    (256u * 1024)

static_assert(BPF_COLD_ONE_IN == SPREAD_COLD_WEIGHT, "a sample counts as it was chosen");

static int on_function(const struct event *event, void *userdata)
{
	return processes_apply(userdata, event);
}

/* All but the first call are cheap. Without memory they stay unknown. */
static void scan_kernel(void *userdata)
{
	struct sample_counter *c = userdata;

	running_kernel_report_generated(sampler_kernel(c->sampler), on_function, c->processes);
}

/* Finds user, control group and unit of a process that is sampled first, or that has changed. */
static int identify(struct sample_counter *c, struct process_context **context,
		    const struct sample *s)
{
	const struct process_context *known = *context;
	struct process_owner owner = {
		.uid = s->uid,
		.restricted = s->restricted,
		.cgroup = s->cgroup,
		.unit = known->unit,
	};
	int r = 0;

	if (s->no_memory) /* unknown counts as restricted */
		owner.restricted = known->uid != s->uid || known->restricted;
	if (_likely_(known->uid == owner.uid && known->restricted == owner.restricted &&
		     known->cgroup == owner.cgroup))
		return 0;
	if (known->cgroup != owner.cgroup)
		r = units_find(c->units, known->pid, owner.cgroup, &owner.unit);
	return r < 0 ? r : processes_identify(c->processes, context, &owner);
}

static bool is_wanted(const struct sample_counter *c, const struct process_context *context)
{
	const struct unit_list *only = c->only;

	for (uint32_t k = 0; k < only->n; k++)
		if (context->unit && strcmp(context->unit, only->names[k]) == 0)
			return true;
	return only->n == 0;
}

/* As how many samples it counts. */
static uint32_t weight_of(const struct sample *s)
{
	return s->cold ? SPREAD_COLD_WEIGHT : 1;
}

int sample_counter_add(struct sample_counter *counter, const struct event *event)
{
	struct sample_counter *c = counter;
	struct process_context *context = processes_find(c->processes, event->pid);
	struct event e = *event;
	bool wanted;
	int r;

	if (!context)
		return -ENOMEM;
	r = identify(c, &context, &e.sample);
	wanted = r >= 0 && is_wanted(c, context);
	if (r >= 0 && c->ticks)
		r = tick_counts_note(c->ticks, &e.sample, context, wanted);
	if (r < 0)
		return r;
	if (_unlikely_(!wanted))
		sampler_refuse(c->sampler,
			       units_knows(c->units, context->cgroup) ? context->cgroup : 0,
			       !e.sample.introduces);
	if (!wanted || e.sample.introduces)
		return 0;
	c->quality.n_depth_limit += live_callchain_is_at_limit(&e.sample) * weight_of(&e.sample);
	return live_unwinder_add(c->unwinder, c->processes, context, &e);
}

/* Whether its stack is as deep as the records only, and the kernel empties them at task switches.
 */
static bool is_since_switch(const struct sample_counter *c, const struct sample *s)
{
	return s->call_stack && sampler_probe(c->sampler)->since_switch &&
	       s->unwound != SAMPLE_UNWOUND_WHOLE && s->unwound != SAMPLE_UNWOUND_LATE;
}

/* A live_unwinder_handler: the stack of the sample is known, as far as it will be. */
static int take_stack(struct process_context *context, const struct event *event, void *userdata)
{
	struct sample_counter *c = userdata;
	struct event e = *event;

	if (!e.sample.user_registers)
		c->quality.n_truncated +=
			live_callchain_truncate(&e.sample, c->processes, context) *
			weight_of(&e.sample);
	c->quality.n_since_switch += is_since_switch(c, &e.sample) * weight_of(&e.sample);
	return builder_add_of(c->builder, c->processes, context, &e);
}

/* Stitching completes call stacks of branch records, and costs something at each exec. */
static bool has_call_stacks(const struct sampler_probe *probe)
{
	return probe->mode == SAMPLER_STACK || probe->mode == SAMPLER_STACK_BRANCH;
}

static size_t default_frames(const struct sample_counter *c)
{
	struct sampler_counts counts;
	size_t n;

	sampler_get_counts(c->sampler, &counts);
	n = MAX((size_t)counts.n_cpus * FRAMES_OF_CPU, (size_t)MIN_FRAMES);
	return MIN(n, (size_t)MAX_FRAMES);
}

static int make_builder(struct sample_counter *c, const struct sample_counter_settings *with)
{
	const struct sampler_probe *probe = sampler_probe(c->sampler);
	const struct builder_settings settings = {
		.no_stitch = !has_call_stacks(probe),
		.duplicate_depth = probe->duplicate_depth,
		.max_rows = with->max_rows,
		.max_frames = with->max_frames ?: default_frames(c),
		.rare_streams = RARE_STREAMS,
		.unite_gone = true,
		.stitch.depth = probe->depth,
		.stitch.is_wiped = probe->since_switch,
	};

	return builder_new(&c->builder, &settings);
}

static int make_ticks(struct sample_counter *c)
{
	const struct tick_counts_settings settings = { c->sampler, c->builder, c->processes };

	return sampler_ticks(c->sampler) ? tick_counts_new(&c->ticks, &settings) : 0;
}

static int make_unwinder(struct sample_counter *c, struct table_exchange *tables)
{
	const struct live_unwinder_settings settings = {
		.exchange = tables,
		.max_stack = BPF_SAMPLE_MAX_STACK,
		.handler = take_stack,
		.userdata = c,
	};

	return live_unwinder_new(&c->unwinder, &settings);
}

int sample_counter_init(struct sample_counter *counter,
			const struct sample_counter_settings *settings)
{
	int r = processes_new(&counter->processes);

	if (r < 0)
		return r;
	processes_keep_generations(counter->processes);
	processes_limit_memory(counter->processes);
	processes_scan_kernel(counter->processes, scan_kernel, counter);
	r = make_builder(counter, settings);
	if (r >= 0)
		r = make_ticks(counter);
	if (r >= 0)
		r = make_unwinder(counter, settings->tables);
	return r < 0 ? r : units_new(&counter->units);
}

void sample_counter_done(struct sample_counter *counter)
{
	live_unwinder_free(counter->unwinder);
	tick_counts_free(counter->ticks);
	builder_free(counter->builder);
	processes_free(counter->processes);
	units_free(counter->units);
}

/* Ticks first: a process has its samples in one part, as far as possible. */
int sample_counter_relieve(struct sample_counter *counter, uint64_t end_ns)
{
	struct builder *builder = counter->builder;
	int r = 0;

	if (counter->ticks)
		r = tick_counts_relieve(counter->ticks, end_ns, builder_is_filling(builder));
	if (r < 0 || !builder_is_filling(builder))
		return r;
	return builder_flush(builder, counter->processes, clock_ns(CLOCK_MONOTONIC));
}
