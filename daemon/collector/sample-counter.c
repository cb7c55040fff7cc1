/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/collector/sample-counter.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "bpf/sample.h"
#include "common/profile/spread.h"
#include "daemon/collector/live-callchain.h"
#include "daemon/sampler/running-kernel.h"

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

void sample_counter_find_generated(struct sample_counter *counter)
{
	processes_scan_kernel(counter->processes, scan_kernel, counter);
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

int sample_counter_take_stack(struct process_context *context, const struct event *event,
			      void *userdata)
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
