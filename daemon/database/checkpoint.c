/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/database/checkpoint.h"

#include <time.h>

#include "common/util/thread.h"

int store_checkpoint_init(struct store_checkpoint *checkpoint, const char *path,
			  struct fault *fault)
{
	int64_t n_tables;
	int r;

	*checkpoint = (struct store_checkpoint){};
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

static void *run(void *userdata)
{
	struct store_checkpoint *checkpoint = userdata;

	pthread_setname_np(pthread_self(), "checkpoint");
	checkpoint->complete = database_checkpoint(checkpoint->database) > 0;
	checkpoint->running = false;
	return NULL;
}

void store_checkpoint_start(struct store_checkpoint *checkpoint)
{
	if (!checkpoint->database)
		return;
	checkpoint->again = checkpoint->running;
	if (checkpoint->running)
		return;
	join(checkpoint);
	checkpoint->complete = false;
	checkpoint->running = true;
	checkpoint->has_thread = thread_start(&checkpoint->thread, run, checkpoint) >= 0;
	if (!checkpoint->has_thread) /* tried again after the next window */
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

bool store_checkpoint_is_complete(const struct store_checkpoint *checkpoint)
{
	return !checkpoint->running && checkpoint->complete && !checkpoint->again;
}
