/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The windows that wait for the next thread: those of the collector for the namer, those of the
 * namer for the main thread. The queue is bounded: when it is full, its last two windows are
 * merged, so that the sums stay exact and only the resolution in time drops.
 */
#pragma once

#include <stdbool.h>

#include "common/util/macro.h"
#include "daemon/window/window.h"

struct window_queue;

int window_queue_new(struct window_queue **ret, size_t max_waiting);
struct window_queue *window_queue_free(struct window_queue *queue);
DEFINE_CLEANUP(struct window_queue *, window_queue_free);

/* An eventfd: readable while a window waits, and for ever after window_queue_wake(). */
int window_queue_fd(const struct window_queue *queue);

/*
 * Appends @window and takes over what it has, in any case. A part of an open window may be put only
 * after window_queue_has_room() said yes. 0 or -ENOMEM.
 */
int window_queue_put(struct window_queue *queue, struct window_profile *window);
bool window_queue_has_room(struct window_queue *queue);

/* The number of closed windows that wait. */
size_t window_queue_count(struct window_queue *queue);

/* True and *@ret, or false if no window waits. */
bool window_queue_take(struct window_queue *queue, struct window_profile *ret);

/* Makes the eventfd readable for ever: the thread that puts windows has ended. */
void window_queue_wake(struct window_queue *queue);

/* Whether that thread has ended, and no window waits. */
bool window_queue_has_ended(struct window_queue *queue);
