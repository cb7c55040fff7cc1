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

#include <systemd/sd-login.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/profile/container.h"
#include "common/util/cleanup.h"

#define MAX_KEPT    4096
#define ROOT_CGROUP 1

struct unit {
	uint64_t cgroup;
	char *name; /* NULL: none */
	UT_hash_handle hh;
};

struct units {
	struct unit *kept;
	char *name; /* returned last, if it is not kept */
};

int units_new(struct units **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
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
	free(units->name);
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

/* Takes over @name, in any case. */
static int keep(struct units *u, uint64_t cgroup, char *name)
{
	struct unit *unit;

	if (HASH_COUNT(u->kept) >= MAX_KEPT)
		forget_all(u);
	unit = calloc(1, sizeof(*unit));
	if (!unit) {
		free(name);
		return -ENOMEM;
	}
	unit->cgroup = cgroup;
	unit->name = name;
	HASH_ADD(hh, u->kept, cgroup, sizeof(unit->cgroup), unit);
	if (!unit->hh.tbl) {
		free(name);
		free(unit);
		return -ENOMEM;
	}
	return 0;
}

/* Asks the kernel. 1 and both strings, the caller's; 0 if there is no such process; -ENOMEM. */
static int look_up(int32_t pid, char **ret_name, char **ret_path)
{
	_cleanup_free_ char *path = NULL, *name = NULL;
	int r;

	if (pid <= 0 || sd_pid_get_cgroup(pid, &path) < 0)
		return 0;
	r = sd_pid_get_unit(pid, &name);
	if (r == -ENODATA && strcmp(path, "/") != 0) {
		name = strdup(path);
		if (!name)
			return -ENOMEM;
	} else if (r < 0 && r != -ENODATA) {
		return 0;
	} else if (name && container_choose(name, path) != name) {
		free(name);
		name = strdup(path);
		if (!name)
			return -ENOMEM;
	}
	*ret_name = TAKE_PTR(name);
	*ret_path = TAKE_PTR(path);
	return 1;
}

int units_find(struct units *units, int32_t pid, uint64_t cgroup, const char **ret)
{
	_cleanup_free_ char *path = NULL;
	struct unit *unit = NULL;
	char *name;
	int r;

	HASH_FIND(hh, units->kept, &cgroup, sizeof(cgroup), unit);
	if (unit) {
		*ret = unit->name;
		return 1;
	}
	r = look_up(pid, &name, &path);
	if (r <= 0)
		return r;
	*ret = name;
	if (cgroup > ROOT_CGROUP && is_group(path, cgroup)) {
		r = keep(units, cgroup, name);
		return r < 0 ? r : 1;
	}
	free(units->name);
	units->name = name;
	return 1;
}

bool units_knows(const struct units *units, uint64_t cgroup)
{
	const struct unit *unit;

	HASH_FIND(hh, units->kept, &cgroup, sizeof(cgroup), unit);
	return unit;
}
