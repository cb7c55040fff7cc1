/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fair turns on the event loop. Whoever has work waits for a turn; the next one goes to the user
 * who has used the least CPU time since they began to wait, so that one user's many or expensive
 * calls delay others by no more than a turn of each user. Within a user the first comes first.
 *
 * A user who has not waited for a while begins with the least that another one has used: time not
 * used is not saved up. What was used is forgotten when nobody waits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <systemd/sd-event.h>

#include "common/util/macro.h"

struct turns;

/* Something that waits for a turn; embedded in what it works on. */
struct turn {
	uid_t uid;
	/* Works a little; may wait again, and may free the turn. */
	void (*run)(struct turn *turn);

	/* of turns.c: */
	struct turn *previous, *next;
	struct turn_user *user; /* NULL: it does not wait */
};

struct turns_settings {
	sd_event *event;
	/* The CPU time of this thread; NULL: CLOCK_THREAD_CPUTIME_ID. */
	uint64_t (*cpu_ns)(void);
};

/* 0 or -errno. */
int turns_new(struct turns **ret, const struct turns_settings *settings);
/* Nobody may wait any more. */
struct turns *turns_free(struct turns *turns);
DEFINE_CLEANUP(struct turns *, turns_free);

/* @turn waits, unless it does already. */
void turns_wait(struct turns *turns, struct turn *turn);
/* It does not wait any more; it may be freed. */
void turns_leave(struct turns *turns, struct turn *turn);

/*
 * Other work of callers, receiving and sending, goes before turns, so that a call is seen at once.
 * Each such piece is reported here: after many of them a turn goes first.
 */
void turns_wait_longer(struct turns *turns);

/* @uid has used CPU time elsewhere, for instance in a thread. */
void turns_charge(struct turns *turns, uid_t uid, uint64_t ns);
