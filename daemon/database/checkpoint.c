/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/database/checkpoint.h"

#include <time.h>

#include "common/util/thread.h"

int store_checkpoint_init(struct store_checkpoint *checkpoint, const char *path,
			  struct fault *fault)
{
	int64_t n_tables;
	int r;

	*checkpoint = (struct store_checkpoint){ .mutex = PTHREAD_MUTEX_INITIALIZER };
	r = database_open(&checkpoint->database, path, fault);
	if (r < 0)
		return r;
	/* the log is opened by reading */
	r = database_run(checkpoint->database, "PRAGMA synchronous = NORMAL");
	if (r >= 0)
		r = database_ask(checkpoint->database, "SELECT count(*) FROM sqlite_schema",
				 &n_tables);
	if (r >= 0)
		return 0;
	database_explain(checkpoint->database, r, fault);
	checkpoint->database = database_free(checkpoint->database);
	return r;
}

static void join(struct store_checkpoint *checkpoint)
{
	if (checkpoint->has_thread)
		pthread_join(checkpoint->thread, NULL);
	checkpoint->has_thread = false;
}

void store_checkpoint_done(struct store_checkpoint *checkpoint)
{
	join(checkpoint);
	checkpoint->database = database_free(checkpoint->database);
}

/* The next task, or false: then the thread has ended. */
static bool take(struct store_checkpoint *checkpoint, enum store_checkpoint_task *ret)
{
	bool found = true;

	pthread_mutex_lock(&checkpoint->mutex);
	if (checkpoint->wanted[STORE_CHECKPOINT_SYNC])
		*ret = STORE_CHECKPOINT_SYNC;
	else if (checkpoint->wanted[STORE_CHECKPOINT_COPY])
		*ret = STORE_CHECKPOINT_COPY;
	else
		checkpoint->running = found = false;
	if (found) {
		checkpoint->wanted[*ret] = false;
		/* unless more is written meanwhile */
		checkpoint->complete = *ret == STORE_CHECKPOINT_COPY;
	}
	pthread_mutex_unlock(&checkpoint->mutex);
	return found;
}

static void *run(void *userdata)
{
	struct store_checkpoint *checkpoint = userdata;
	enum store_checkpoint_task task;
	bool complete;

	pthread_setname_np(pthread_self(), "checkpoint");
	while (take(checkpoint, &task)) {
		database_sync_log(checkpoint->database); /* where it fails, so does copying */
		if (task == STORE_CHECKPOINT_SYNC)
			continue;
		complete = database_checkpoint(checkpoint->database) > 0;
		pthread_mutex_lock(&checkpoint->mutex);
		checkpoint->complete = checkpoint->complete && complete;
		pthread_mutex_unlock(&checkpoint->mutex);
	}
	return NULL;
}

void store_checkpoint_start(struct store_checkpoint *checkpoint, enum store_checkpoint_task task)
{
	bool running;

	if (!checkpoint->database)
		return;
	pthread_mutex_lock(&checkpoint->mutex);
	running = checkpoint->running;
	checkpoint->wanted[task] = true;
	checkpoint->complete = false;
	checkpoint->running = true;
	pthread_mutex_unlock(&checkpoint->mutex);
	if (running)
		return;
	join(checkpoint);
	checkpoint->has_thread = thread_start(&checkpoint->thread, run, checkpoint) >= 0;
	if (!checkpoint->has_thread) /* done with the next window's */
		checkpoint->running = false;
}

void store_checkpoint_wait(struct store_checkpoint *checkpoint, unsigned int ms)
{
	struct timespec until;

	if (!checkpoint->has_thread)
		return;
	clock_gettime(CLOCK_REALTIME, &until); /* which the next call takes */
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	if (pthread_timedjoin_np(checkpoint->thread, NULL, &until) == 0)
		checkpoint->has_thread = false;
}

bool store_checkpoint_is_complete(struct store_checkpoint *checkpoint)
{
	bool complete;

	if (!checkpoint->database)
		return false;
	pthread_mutex_lock(&checkpoint->mutex);
	complete = !checkpoint->running && checkpoint->complete;
	pthread_mutex_unlock(&checkpoint->mutex);
	return complete;
}
