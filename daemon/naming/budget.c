/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/naming/budget.h"

#include "common/util/clock.h"
#include "common/util/macro.h"

void budget_begin(struct budget *budget, const struct budget_limits *limits)
{
	*budget = (struct budget){ .limits = *limits, .since_us = clock_us(CLOCK_MONOTONIC) };
}

/* The time since the last look goes to who pays for it. */
static void pass_time(struct budget *budget)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC);
	uint64_t us = budget->since_us ? now - budget->since_us : 0;

	budget->since_us = now;
	budget->used.us += us;
	if (budget->class_paying)
		budget->class_paying->us += us;
	if (budget->paying)
		budget->paying->used.us += us;
}

static struct budget_user *find_user(struct budget *budget, uint32_t uid)
{
	uint32_t i;

	for (i = 0; i < budget->n_users; i++)
		if (budget->users[i].uid == uid)
			return &budget->users[i];
	if (budget->n_users == BUDGET_MAX_USERS)
		return &budget->users[BUDGET_MAX_USERS - 1];
	budget->n_users++;
	budget->users[i].uid = uid;
	return &budget->users[i];
}

/*
 * The bytes that a file costs: no more than a rare file of a user may, or a large program would be
 * put off for ever. The parser limits what is read of it.
 */
static uint64_t cost_of(const struct budget *budget, const struct file_identity *file)
{
	return MIN(file->n_bytes, budget->limits.bytes / 2 / BUDGET_SHARE);
}

/* Whether one more file fits in 1/@part of the limits. */
static bool fits(const struct budget_limits *limits, const struct budget_limits *used,
		 uint64_t n_bytes, uint64_t part)
{
	uint64_t bytes = limits->bytes / part;

	return used->files < limits->files / part && used->us < limits->us / part &&
	       used->bytes <= bytes && n_bytes <= bytes - used->bytes;
}

static void add(struct budget_limits *used, uint64_t n_bytes)
{
	used->files++;
	used->bytes += n_bytes;
}

/* Whether the users have room for one more file of @user. */
static bool fits_users(const struct budget *budget, const struct budget_user *user,
		       uint64_t n_bytes, uint64_t part)
{
	return fits(&budget->limits, &budget->used_by_users, n_bytes, part * BUDGET_ALL) &&
	       fits(&budget->limits, &user->used, n_bytes, part * BUDGET_SHARE);
}

bool budget_take(struct budget *budget, const struct file_identity *file, bool hot)
{
	struct budget_user *user = file->trusted ? NULL : find_user(budget, file->uid);
	uint64_t part = hot ? 1 : 2, n_bytes = cost_of(budget, file);
	struct budget_limits *class = user ? &budget->used_by_users : &budget->used_by_trusted;

	pass_time(budget);
	budget->class_paying = NULL;
	budget->paying = NULL;
	if (!fits(&budget->limits, &budget->used, n_bytes, 1) ||
	    (user ? !fits_users(budget, user, n_bytes, part) :
		    !fits(&budget->limits, class, n_bytes, part))) {
		budget->n_refused++;
		return false;
	}
	add(&budget->used, n_bytes);
	add(class, n_bytes);
	if (user)
		add(&user->used, n_bytes);
	budget->class_paying = class;
	budget->paying = user;
	return true;
}

void budget_rest(struct budget *budget)
{
	pass_time(budget);
	budget->class_paying = NULL;
	budget->paying = NULL;
	budget->since_us = 0;
}

bool budget_has_time(const struct budget *budget)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC);
	uint64_t us = budget->since_us ? now - budget->since_us : 0;

	return budget->used.us + us < budget->limits.us;
}
