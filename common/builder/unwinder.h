/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The call stacks of samples that carry the registers and the stack of user code: `perf record
 * --call-graph dwarf`. It keeps the unwind tables of the objects that it meets.
 */
#pragma once

#include <stdint.h>

#include "common/process/processes.h"
#include "common/record/event.h"
#include "common/stitch/stack.h"
#include "common/unwind/walk.h"
#include "common/util/macro.h"

struct unwinder;

struct unwinder_settings {
	/*
	 * Gets the unwind table of an object, for unwind_table_done(); one without rows if there is
	 * none. Asked for once. 1; 0 if it is not known whether there is one; -ENOMEM.
	 */
	int (*get_table)(const struct profile_object *object, struct unwind_table *ret,
			 void *userdata);
	void *userdata;
};

/* @machine: EM_* of the samples. */
int unwinder_new(struct unwinder **ret, const struct unwinder_settings *settings, uint16_t machine);
struct unwinder *unwinder_free(struct unwinder *unwinder);
DEFINE_CLEANUP(struct unwinder *, unwinder_free);

/*
 * Puts the frames of the user's code into @stack, in place of those that it has. 1 and *@ret; 0 if
 * the sample has no registers or no stack of the user's code; -ENOMEM.
 */
int unwinder_add(struct unwinder *unwinder, const struct processes *processes,
		 const struct process_context *context, const struct sample *sample,
		 struct stack *stack, struct unwind_result *ret);
