/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * shadow-set: the true call stacks of one task: that of each stack it runs on, of which one is
 * current. A task has several if a signal handler runs on an alternate one, or if it switches
 * between coroutines.
 *
 * A stack is a mapping of memory: the stack pointer says which one is current.
 *
 * Limit: stacks that share a mapping are taken for one.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/simulator/shadow.h"

struct shadow_set {
	struct shadow **all; /* the first is that of the stack the task began on */
	size_t n;
	struct shadow *current; /* never NULL once initialised */
};

/* -ENOMEM */
int shadow_set_init(struct shadow_set *set);
/* Forgets all calls, as exec does. */
void shadow_set_clear(struct shadow_set *set);
void shadow_set_done(struct shadow_set *set);

/*
 * Makes the stack that holds @rsp the current one; @tid is stopped. Leaving an alternate stack for
 * the one that was interrupted ends what ran on it. Returns the current one, which is the same as
 * before if no memory is there.
 */
struct shadow *shadow_set_enter(struct shadow_set *set, pid_t tid, uint64_t rsp);
/* The same, of a signal handler: what ran before is interrupted by it. */
struct shadow *shadow_set_interrupt(struct shadow_set *set, pid_t tid, uint64_t rsp);
