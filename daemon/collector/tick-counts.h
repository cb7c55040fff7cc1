/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Ticks on their way from the BPF programs into the builder. A tick says which process and address
 * space it is of; the process context of those is known from the samples in the ring, and from the
 * records that introduce them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/builder/builder.h"
#include "common/process/processes.h"
#include "common/util/macro.h"
#include "daemon/sampler/sampler.h"

struct tick_counts;

struct tick_counts_settings {
	struct sampler *sampler; /* that has ticks; borrowed, as are the others */
	struct builder *builder;
	struct processes *processes;
};

/* 0 or -ENOMEM. */
int tick_counts_new(struct tick_counts **ret, const struct tick_counts_settings *settings);
struct tick_counts *tick_counts_free(struct tick_counts *counts);
DEFINE_CLEANUP(struct tick_counts *, tick_counts_free);

/*
 * @sample is of @context, or introduces it: so are ticks of its address space, also those that were
 * counted before. @wanted: whether they shall be counted. 0 or -ENOMEM.
 */
int tick_counts_note(struct tick_counts *counts, const struct sample *sample,
		     struct process_context *context, bool wanted);

/* A window ends at @ns (CLOCK_MONOTONIC). Ticks from then on are not of it. */
void tick_counts_plan(struct tick_counts *counts, uint64_t ns);

/*
 * Counts the ticks until @ns in the builder, at most those until the time that was planned; then
 * another one is to be planned. At the end of a window (@last) ticks of processes that nobody has
 * introduced count for the process that has their number now; before, they wait. 0 or -errno.
 */
int tick_counts_take(struct tick_counts *counts, uint64_t ns, bool last);

/* Takes ticks before their tables fill up, or @always, and plans @ns again. 0 or -errno. */
int tick_counts_relieve(struct tick_counts *counts, uint64_t ns, bool always);
