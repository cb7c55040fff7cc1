/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/roller.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "daemon/log.h"

#define IDLE_US  5000000 /* between looks for windows that have aged */
#define MAX_WAIT 9u      /* after failures the time doubles up to this number of times */
#define PAUSE_US 50000   /* after a step */

struct roller {
	struct store *store;
	sd_event_source *timer;
	unsigned int n_failed; /* steps in a row; the first one is logged */
};

static int on_time(sd_event_source *source, uint64_t now_us, void *userdata)
{
	struct roller *roller = userdata;
	struct fault fault;
	int r;

	r = store_roll(roller->store, &fault);
	if (r < 0 && roller->n_failed == 0)
		log_warning(LOG_ID_DATABASE, "windows that have aged cannot be merged: %s",
			    fault.text);
	roller->n_failed = r < 0 ? MIN(roller->n_failed + 1, MAX_WAIT) : 0;
	r = sd_event_source_set_time_relative(
		source, r > 0 ? PAUSE_US : (uint64_t)IDLE_US << roller->n_failed);
	return r < 0 ? r : sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int roller_new(struct roller **ret, sd_event *event, struct store *store)
{
	_cleanup_(roller_freep) struct roller *roller = calloc(1, sizeof(*roller));
	int r;

	if (!roller)
		return -ENOMEM;
	roller->store = store;
	r = sd_event_add_time_relative(event, &roller->timer, CLOCK_MONOTONIC, IDLE_US, 0, on_time,
				       roller);
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
	sd_event_source_disable_unref(roller->timer);
	free(roller);
	return NULL;
}
