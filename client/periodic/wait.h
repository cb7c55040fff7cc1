/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Waits for a time, or for the end: SIGINT, SIGTERM, or the end of processes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/util/fault.h"

struct wait;

/*
 * From now on the signals are waited for. @pids: a list of numbers, separated by commas, or NULL.
 * -ESRCH and @fault if a process of the list does not exist; another -errno and @fault.
 */
int wait_new(struct wait **ret, const char *pids, struct fault *fault);
struct wait *wait_free(struct wait *wait);

/* Until @until_us of CLOCK_MONOTONIC, then false; or true at the end, and ever after. */
bool wait_until(struct wait *wait, uint64_t until_us);
