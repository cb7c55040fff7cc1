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

struct sample_counter_settings {
	size_t max_rows, max_frames;   /* limits of a window's tables; 0: defaults */
	struct table_exchange *tables; /* for stacks of user code; borrowed; NULL: none are built */
};

struct sample_counter {
	struct sampler *sampler; /* borrowed */
	struct processes *processes;
	struct builder *builder;
	struct live_unwinder *unwinder;
	struct units *units;
	struct tick_counts *ticks;    /* NULL: all samples are captured in full */
	const struct unit_list *only; /* count these units only; empty: all; borrowed */
	struct window_quality quality;
};

/* Makes the parts of @counter, which has its sampler and units. 0 or -errno: then, too,
 * sample_counter_done() frees them. */
int sample_counter_init(struct sample_counter *counter,
			const struct sample_counter_settings *settings);
void sample_counter_done(struct sample_counter *counter);

/* The sample @event. Its stack may come later. 0 or -errno. */
int sample_counter_add(struct sample_counter *counter, const struct event *event);

/* Makes room in the open window, which ends at @end_ns, before the ticks' tables or the builder are
 * full. 0 or -errno. */
int sample_counter_relieve(struct sample_counter *counter, uint64_t end_ns);
