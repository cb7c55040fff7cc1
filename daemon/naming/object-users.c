/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/naming/object-users.h"

#include <stddef.h>

#include "common/util/array.h"
#include "common/util/compare.h"

static void add_pid(struct object_users *users, int32_t pid)
{
	for (size_t i = 0; pid > 0 && i < OBJECT_USERS_MAX; i++) {
		if (users->pids[i] == pid)
			return;
		if (users->pids[i] == 0) {
			users->pids[i] = pid;
			return;
		}
	}
}

static void add_uid(struct object_users *users, uint32_t uid)
{
	users->uid = users->has_uid && users->uid != uid ? UINT32_MAX : uid;
	users->has_uid = true;
}

/* A frame without samples is a caller: that counts a little, too. */
static void add_use(const struct profile *p, struct object_users *users, uint32_t object,
		    uint32_t process, uint64_t n)
{
	if (object == PROFILE_NONE)
		return;
	users[object].heat += n + 1;
	if (process == PROFILE_NONE)
		return;
	add_pid(&users[object], p->processes[process].pid);
	add_uid(&users[object], p->processes[process].uid);
}

static int compare_heat(const void *x, const void *y, void *userdata)
{
	const struct object_users *users = userdata;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	RETURN_UNLESS_EQUAL(COMPARE(users[b].heat, users[a].heat));
	return COMPARE(a, b);
}

static void mark_hot(struct object_users *users, const uint32_t *order, size_t n)
{
	uint64_t total = 0, sum = 0;

	for (size_t i = 0; i < n; i++)
		total += users[i].heat;
	for (size_t i = 0; i < n && sum <= total - total / 10; i++) {
		users[order[i]].is_hot = true;
		sum += users[order[i]].heat;
	}
}

int object_users_rank(const struct profile *profile, struct object_users *users, uint32_t **ret)
{
	const struct profile *p = profile;
	uint32_t *order;

	if (ARRAY_ALLOCATE(&order, p->n_objects) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_stacks; i++)
		add_use(p, users, p->stacks[i].frame.object, p->stacks[i].process,
			p->stacks[i].samples + p->stacks[i].ticks);
	for (size_t i = 0; i < p->n_branches; i++) {
		add_use(p, users, p->branches[i].from.object, p->branches[i].process, 0);
		add_use(p, users, p->branches[i].to.object, p->branches[i].process, 0);
	}
	for (uint32_t i = 0; i < p->n_objects; i++)
		order[i] = i;
	qsort_r(order, p->n_objects, sizeof(*order), compare_heat, users);
	mark_hot(users, order, p->n_objects);
	*ret = order;
	return 0;
}
