/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Live stacks by unwind tables: a sample's registers and stack bytes become a call chain. A sample
 * whose tables are not built yet is kept for a while, so that the first seconds of a program are
 * not lost. The collector's thread alone calls it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/process/processes.h"
#include "common/record/event.h"
#include "common/unwind/walk.h"
#include "common/util/macro.h"
#include "daemon/unwind/short-stacks.h"
#include "daemon/unwind/table-exchange.h"

struct live_unwinder;

struct live_unwinder_counts {
	uint64_t ended[UNWIND_END_N]; /* stacks of user code, by the reason */
	uint64_t n_by_fp;             /* frames found by the frame pointer */
	uint64_t n_stacks_by_fp;      /* stacks with such frames */
	uint64_t n_32_bit;            /* stacks of programs of 32 bits, which have no tables */
	uint64_t n_kept;              /* samples that waited for tables */
	uint64_t n_tables, table_bytes;
};

/* Takes samples whose stacks are known now. 0 or a negative errno. */
typedef int (*live_unwinder_handler)(struct process_context *context, const struct event *event,
				     void *userdata);

struct live_unwinder_settings {
	struct table_exchange *exchange; /* borrowed */
	uint32_t max_stack;              /* the bytes of a stack that are copied at most */
	live_unwinder_handler handler;
	void *userdata;
};

/* 0 or -ENOMEM. */
int live_unwinder_new(struct live_unwinder **ret, const struct live_unwinder_settings *settings);
struct live_unwinder *live_unwinder_free(struct live_unwinder *unwinder);
DEFINE_CLEANUP(struct live_unwinder *, live_unwinder_free);

/*
 * Gives the sample to the handler, now or later. One with registers gets a call chain: that of the
 * kernel, which it has, and then that of user code. What the handler returned, or -ENOMEM.
 */
int live_unwinder_add(struct live_unwinder *unwinder, const struct processes *processes,
		      struct process_context *context, const struct event *event);

/* Takes tables that have come, and the stacks that waited for them. */
int live_unwinder_update(struct live_unwinder *unwinder, const struct processes *processes);

/* Gives all samples to the handler, as far as their stacks are known. */
int live_unwinder_flush(struct live_unwinder *unwinder, const struct processes *processes);

/* The objects at whose code most of the incomplete stacks end, the most first; their number. Any
 * thread may call it. */
size_t live_unwinder_get_short(struct live_unwinder *unwinder,
			       struct short_stacks_object ret[static SHORT_STACKS_SHOWN]);

/* Any thread may call it; each single count is consistent. */
void live_unwinder_get_counts(const struct live_unwinder *unwinder,
			      struct live_unwinder_counts *ret);
