/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The watchdog of systemd. It is fed on the event loop of the main thread, and only while the
 * collector turns: a daemon that answers, but does not sample any more, is to be restarted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-event.h>

#include "common/util/macro.h"

struct watchdog;

struct watchdog_settings {
	/* True, and when the collector began its last turn (CLOCK_MONOTONIC); false: none runs. */
	bool (*get_turn)(uint64_t *ret_us, void *userdata);
	/* The collector is stuck, or turns again: once each. */
	void (*report)(bool stuck, const char *text, void *userdata);
	void *userdata;
};

/* Feeds at once and from then on; where no service manager waits for that, it only reports. 0 or
 * -errno. */
int watchdog_new(struct watchdog **ret, sd_event *event, const struct watchdog_settings *settings);
struct watchdog *watchdog_free(struct watchdog *watchdog);
DEFINE_CLEANUP(struct watchdog *, watchdog_free);

/* Writes for how long the collector has not turned and what to do into @ret of @n bytes; "" if it
 * turns. */
void watchdog_describe(const struct watchdog *watchdog, char *ret, size_t n);
