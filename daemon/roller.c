/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/roller.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "daemon/api/job.h"
#include "daemon/log.h"

#define IDLE_US  5000000 /* between looks for windows that have aged */
#define MAX_WAIT 9u      /* after failures the time doubles up to this number of times */
#define PAUSE_US 50000   /* after a step */
#define LATE_US  2500000 /* at most: it joins another wake-up of the loop */

struct roller {
	struct store *store;
	sd_event *event; /* borrowed */
	sd_event_source *timer;
	struct store_rolling *rolling; /* windows of many rows, which the job adds up; or NULL */
	struct job job;
	unsigned int n_failed; /* steps in a row; the first one is logged */
};

static int work(void *userdata)
{
	struct roller *roller = userdata;

	return store_rolling_work(roller->rolling);
}

/* The next step follows at a time that depends on what this one answered. */
static int wait_for_next(struct roller *roller, int r)
{
	roller->n_failed = r < 0 ? MIN(roller->n_failed + 1, MAX_WAIT) : 0;
	sd_event_source_set_time_accuracy(roller->timer, r > 0 ? PAUSE_US : LATE_US);
	r = sd_event_source_set_time_relative(
		roller->timer, r > 0 ? PAUSE_US : (uint64_t)IDLE_US << roller->n_failed);
	return r < 0 ? r : sd_event_source_set_enabled(roller->timer, SD_EVENT_ONESHOT);
}

static void on_done(void *userdata, int result, uint64_t cpu_ns)
{
	/* what went wrong, the end of the step tells */
	wait_for_next(userdata, 1);
}

static int begin(struct roller *roller, struct fault *fault)
{
	int r = store_roll_begin(roller->store, &roller->rolling, fault);

	if (r != 2)
		return r;
	roller->job = (struct job){ .work = work, .done = on_done, .userdata = roller };
	r = job_start(&roller->job, roller->event);
	if (r >= 0)
		return 2;
	roller->rolling = store_rolling_free(roller->rolling);
	return fault_set(fault, r, "no thread could be started");
}

static int end(struct roller *roller, struct fault *fault)
{
	int r = store_roll_end(roller->store, roller->rolling, fault);

	if (r != 2)
		roller->rolling = store_rolling_free(roller->rolling);
	return MIN(r, 1);
}

static int on_time(sd_event_source *source, uint64_t now_us, void *userdata)
{
	struct roller *roller = userdata;
	struct fault fault;
	int r = roller->rolling ? end(roller, &fault) : begin(roller, &fault);

	if (r < 0 && roller->n_failed == 0)
		log_warning(LOG_ID_DATABASE, "windows that have aged cannot be merged: %s",
			    fault.text);
	return r == 2 ? 0 : wait_for_next(roller, r); /* 2: the job is at work */
}

int roller_new(struct roller **ret, sd_event *event, struct store *store)
{
	_cleanup_(roller_freep) struct roller *roller = calloc(1, sizeof(*roller));
	int r;

	if (!roller)
		return -ENOMEM;
	roller->store = store;
	roller->event = event;
	r = sd_event_add_time_relative(event, &roller->timer, CLOCK_MONOTONIC, IDLE_US, LATE_US,
				       on_time, roller);
	if (r >= 0)
		r = sd_event_source_set_priority(roller->timer, SD_EVENT_PRIORITY_IDLE);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(roller);
	return 0;
}

struct roller *roller_free(struct roller *roller)
{
	if (!roller)
		return NULL;
	job_cancel(&roller->job);
	store_rolling_free(roller->rolling);
	sd_event_source_disable_unref(roller->timer);
	free(roller);
	return NULL;
}
