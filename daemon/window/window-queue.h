/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The windows that wait for the main thread: but for open files, the one thing that passes between
 * the two threads. It holds a bounded number; when it is full the last two are merged, so that the
 * sums stay exact and only the division of time gets coarser.
 */
#pragma once

#include <stdbool.h>

#include "common/util/macro.h"
#include "daemon/collector/collector.h"

struct window_queue;

int window_queue_new(struct window_queue **ret, size_t max_waiting);
struct window_queue *window_queue_free(struct window_queue *queue);
DEFINE_CLEANUP(struct window_queue *, window_queue_free);

/* An eventfd: readable while something waits, or for ever once woken. */
int window_queue_fd(const struct window_queue *queue);

/*
 * Puts @collected at the end and takes over its profile, in any case. A part of an open window may
 * be put only where window_queue_has_room(). 0 or -ENOMEM.
 */
int window_queue_put(struct window_queue *queue, struct collected *collected);
bool window_queue_has_room(struct window_queue *queue);

/* True and *@ret, or false where nothing waits. */
bool window_queue_take(struct window_queue *queue, struct collected *ret);

/* Makes it readable for ever. */
void window_queue_wake(struct window_queue *queue);
