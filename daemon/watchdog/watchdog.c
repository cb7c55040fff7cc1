/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/watchdog/watchdog.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/watchdog/liveness.h"

#define INTERVAL_US 5000000
/* How often it is fed in the time after which systemd kills. */
#define FEEDINGS    4

struct watchdog {
	struct watchdog_settings settings;
	struct liveness liveness;
	bool is_fed; /* a service manager waits for it */
	uint64_t interval_us;
	sd_event_source *on_check;
};

void watchdog_describe(const struct watchdog *watchdog, char *ret, size_t n)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC), turned = watchdog->liveness.turned_us;

	*ret = '\0';
	if (!watchdog->liveness.stuck)
		return;
	snprintf(ret, n,
		 "the collector has not turned for %llu s, no samples are counted: %s; please "
		 "report it with what gdb -p %d -batch -ex 'thread apply all bt' prints",
		 (unsigned long long)(now - MIN(now, turned)) / 1000000,
		 watchdog->is_fed ? "systemd restarts branchd if that goes on" : "restart branchd",
		 (int)getpid());
}

static void check(struct watchdog *watchdog)
{
	struct liveness_view view = { .now_us = clock_us(CLOCK_MONOTONIC) };
	bool was_stuck = watchdog->liveness.stuck, alive;
	char text[512] = "the collector turns again";

	view.runs = watchdog->settings.get_turn(&view.turned_us, watchdog->settings.userdata);
	alive = liveness_check(&watchdog->liveness, &view, watchdog->interval_us);
	if (alive && watchdog->is_fed)
		sd_notify(0, "WATCHDOG=1");
	if (alive != was_stuck)
		return;
	if (!alive)
		watchdog_describe(watchdog, text, sizeof(text));
	watchdog->settings.report(!alive, text, watchdog->settings.userdata);
}

static int on_check(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct watchdog *watchdog = userdata;

	check(watchdog);
	sd_event_source_set_time_relative(source, watchdog->interval_us);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int watchdog_new(struct watchdog **ret, sd_event *event, const struct watchdog_settings *settings)
{
	_cleanup_(watchdog_freep) struct watchdog *watchdog = calloc(1, sizeof(*watchdog));
	uint64_t limit_us = 0;
	int r;

	if (!watchdog)
		return -ENOMEM;
	watchdog->settings = *settings;
	watchdog->interval_us = INTERVAL_US;
	watchdog->is_fed = sd_watchdog_enabled(0, &limit_us) > 0;
	if (watchdog->is_fed)
		watchdog->interval_us = MIN(watchdog->interval_us, limit_us / FEEDINGS);
	r = sd_event_add_time_relative(event, &watchdog->on_check, CLOCK_MONOTONIC, 0,
				       watchdog->interval_us / 4, on_check, watchdog);
	if (r < 0)
		return r;
	check(watchdog);
	*ret = TAKE_PTR(watchdog);
	return 0;
}

struct watchdog *watchdog_free(struct watchdog *watchdog)
{
	if (!watchdog)
		return NULL;
	sd_event_source_disable_unref(watchdog->on_check);
	free(watchdog);
	return NULL;
}
