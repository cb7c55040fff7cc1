/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is done with the write-ahead log in a thread of its own and by a connection of its own, as
 * that waits for the disk, and may take seconds where the disk is slow or the log is long. Writing
 * and reading go on meanwhile. The log is synced, so that a power failure does not take what was
 * written before; and copied into the database, so that it does not grow.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "common/util/fault.h"
#include "daemon/database/database.h"

enum store_checkpoint_task {
	STORE_CHECKPOINT_SYNC, /* the log alone */
	STORE_CHECKPOINT_COPY, /* after it was synced */
	N_STORE_CHECKPOINT_TASKS,
};

struct store_checkpoint {
	struct database *database; /* NULL: there is nothing to do */
	pthread_t thread;
	bool has_thread;       /* to be joined */
	pthread_mutex_t mutex; /* of what follows */
	bool running, complete;
	bool wanted[N_STORE_CHECKPOINT_TASKS];
};

/* Of the open database at @path. 0, or -errno and @fault. */
int store_checkpoint_init(struct store_checkpoint *checkpoint, const char *path,
			  struct fault *fault);
/* Waits until the thread has ended. */
void store_checkpoint_done(struct store_checkpoint *checkpoint);

/* Begins the task; or, while one is running, has it done next. */
void store_checkpoint_start(struct store_checkpoint *checkpoint, enum store_checkpoint_task task);

/* Waits for what is running, if anything, and at most @ms milliseconds. */
void store_checkpoint_wait(struct store_checkpoint *checkpoint, unsigned int ms);

/* Whether nothing has been left to copy since the last start. A reader of older windows keeps some
 * of the log from being copied. */
bool store_checkpoint_is_complete(struct store_checkpoint *checkpoint);
