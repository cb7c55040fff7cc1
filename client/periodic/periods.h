/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the daemon samples, period by period: of the open window the part that is new, and the
 * windows that have closed since. Each sample is in one period.
 */
#pragma once

#include <stdint.h>

#include "common/profile/profile.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct periods;

/* Begins with the first period. Borrows @socket. -errno and @fault. */
int periods_open(struct periods **ret, const char *socket, struct fault *fault);
struct periods *periods_free(struct periods *periods);
DEFINE_CLEANUP(struct periods *, periods_free);

/*
 * *@ret is a new finalized profile of what was sampled since the last call, or since
 * periods_open(). A window that has just ended may come with the next call only; see
 * periods_is_behind(). -errno and @fault: the period goes on, and the next call connects again.
 */
int periods_next(struct periods *periods, struct profile **ret, struct fault *fault);

/*
 * How many windows were lost, removed, or merged with ones that had come, before they could come:
 * their samples, or some of them, are in no period.
 */
uint64_t periods_n_missed(const struct periods *periods);

/* Whether a window that was open has ended, and has not come yet. */
bool periods_is_behind(const struct periods *periods);
