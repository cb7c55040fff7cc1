/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The id of a control group is the inode of its directory. The two are compared because the process
 * may have moved since it was sampled: the child of a service manager moves before its exec.
 */
#include "daemon/collector/unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/util/cleanup.h"
#include "daemon/collector/group-lookup.h"

#define MAX_KEPT    4096
#define ROOT_CGROUP 1

struct unit {
	uint64_t cgroup;
	char *name; /* NULL: none */
	UT_hash_handle hh;
};

struct units {
	struct unit *kept;
	struct group_lookup *groups;
};

int units_new(struct units **ret)
{
	_cleanup_(units_freep) struct units *units = calloc(1, sizeof(*units));
	int r = units ? group_lookup_new(&units->groups) : -ENOMEM;

	if (r >= 0)
		*ret = TAKE_PTR(units);
	return r;
}

static void forget_all(struct units *u)
{
	struct unit *unit, *next;

	HASH_ITER(hh, u->kept, unit, next) {
		HASH_DEL(u->kept, unit);
		free(unit->name);
		free(unit);
	}
}

struct units *units_free(struct units *units)
{
	if (!units)
		return NULL;
	forget_all(units);
	group_lookup_free(units->groups);
	free(units);
	return NULL;
}

/* Whether @path is the control group with this id in the unified hierarchy. */
static bool is_group(const char *path, uint64_t cgroup)
{
	static const char *const mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	char name[4096];
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		snprintf(name, sizeof(name), "%s%s", mounts[i], path);
		if (stat(name, &st) == 0 && st.st_ino == cgroup)
			return true;
	}
	return false;
}

static int keep(struct units *u, uint64_t cgroup, const char *name)
{
	struct unit *unit;

	if (HASH_COUNT(u->kept) >= MAX_KEPT)
		forget_all(u);
	unit = calloc(1, sizeof(*unit));
	if (!unit)
		return -ENOMEM;
	unit->cgroup = cgroup;
	unit->name = name ? strdup(name) : NULL;
	if (!name || unit->name)
		HASH_ADD(hh, u->kept, cgroup, sizeof(unit->cgroup), unit);
	if (!unit->hh.tbl) {
		free(unit->name);
		free(unit);
		return -ENOMEM;
	}
	return 0;
}

int units_find(struct units *units, int32_t pid, uint64_t cgroup, const char **ret)
{
	const struct group *group;
	struct unit *unit = NULL;
	int r;

	HASH_FIND(hh, units->kept, &cgroup, sizeof(cgroup), unit);
	if (unit) {
		*ret = unit->name;
		return 1;
	}
	r = group_lookup_find(units->groups, pid, &group);
	if (r <= 0)
		return r;
	*ret = group->unit;
	if (cgroup > ROOT_CGROUP && is_group(group->path, cgroup))
		r = keep(units, cgroup, group->unit);
	return r < 0 ? r : 1;
}

bool units_knows(const struct units *units, uint64_t cgroup)
{
	const struct unit *unit;

	HASH_FIND(hh, units->kept, &cgroup, sizeof(cgroup), unit);
	return unit;
}
