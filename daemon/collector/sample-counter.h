/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The way of a sample through the collector: whose it is, whether it is wanted, its stack, and into
 * the builder.
 */
#pragma once

#include "common/builder/builder.h"
#include "common/process/processes.h"
#include "daemon/collector/tick-counts.h"
#include "daemon/collector/unit.h"
#include "daemon/collector/window-quality.h"
#include "daemon/sampler/sampler.h"
#include "daemon/unwind/live-unwinder.h"

/* All but the quality is borrowed. */
struct sample_counter {
	struct sampler *sampler;
	struct processes *processes;
	struct builder *builder;
	struct live_unwinder *unwinder;
	struct units *units;
	struct tick_counts *ticks;    /* NULL: all samples are captured in full */
	const struct unit_list *only; /* count these units only; empty: all */
	struct window_quality quality;
};

/* The BPF programs and trampolines are found when one is sampled. */
void sample_counter_find_generated(struct sample_counter *counter);

/* The sample @event. Its stack may come later. 0 or -errno. */
int sample_counter_add(struct sample_counter *counter, const struct event *event);

/* A live_unwinder_handler, with the counter as @userdata: the stack of the sample is known, as far
 * as it will be. */
int sample_counter_take_stack(struct process_context *context, const struct event *event,
			      void *userdata);
