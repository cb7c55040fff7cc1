/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Copying the write-ahead log into the database, in a thread of its own and by a connection of its
 * own: that waits for the disk, and may take seconds where the disk is slow or the log is long.
 * Writing and reading go on meanwhile.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "common/util/fault.h"
#include "daemon/database/database.h"

struct store_checkpoint {
	struct database *database; /* NULL: there is nothing to copy */
	bool has_thread;           /* to be joined */
	bool again;                /* more was written while it ran */
	atomic_bool running, complete;
	pthread_t thread;
};

/* Of the open database at @path. 0, or -errno and @fault. */
int store_checkpoint_init(struct store_checkpoint *checkpoint, const char *path,
			  struct fault *fault);
/* Waits until the thread has ended. */
void store_checkpoint_done(struct store_checkpoint *checkpoint);

/* Begins one, unless one is running: then another is due later. */
void store_checkpoint_start(struct store_checkpoint *checkpoint);

/* Waits for the one that is running, if any, and at most @ms milliseconds. */
void store_checkpoint_wait(struct store_checkpoint *checkpoint, unsigned int ms);

/* Whether nothing has been left to copy since the last start. A reader of older windows keeps some
 * of the log from being copied. */
bool store_checkpoint_is_complete(const struct store_checkpoint *checkpoint);
