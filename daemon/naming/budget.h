/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What naming the objects of one window may cost: files, bytes, time; each user a part of it. What
 * does not fit is tried with the next window. The objects with most samples may use all of the
 * budget, the others half of it, so that rare ones never keep hot ones out.
 *
 * Trusted files, see file-identity.h, are nobody's: they may use all. All users together may use
 * half, as one may have many uids: those of a user namespace.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/util/file-identity.h"

#define BUDGET_MAX_USERS 64
#define BUDGET_SHARE     4 /* a user gets a quarter, */
#define BUDGET_ALL       2 /* and all users together half */

struct budget_limits {
	uint64_t files, bytes, us;
};

struct budget_user {
	uint32_t uid;
	struct budget_limits used;
};

struct budget {
	struct budget_limits limits, used;
	struct budget_limits used_by_trusted, used_by_users;
	struct budget_user users[BUDGET_MAX_USERS]; /* one more user shares with the last */
	uint32_t n_users;
	struct budget_limits *class_paying; /* for the time since @since_us; or NULL */
	struct budget_user *paying;         /* likewise */
	uint64_t since_us;                  /* 0: at rest */
	uint64_t n_refused;
};

void budget_begin(struct budget *budget, const struct budget_limits *limits);

/* Whether the file may be read now. The time until the next call of this or budget_rest() counts
 * for its owner. */
bool budget_take(struct budget *budget, const struct file_identity *file, bool hot);

/* Ends the work; the time until the next budget_take() is nobody's. */
void budget_rest(struct budget *budget);

/* Whether there is time left for anybody. */
bool budget_has_time(const struct budget *budget);
