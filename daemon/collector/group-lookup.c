/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/collector/group-lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <systemd/sd-login.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/profile/container.h"
#include "common/util/cleanup.h"

#define MAX_KEPT 1024
#define MAX_TEXT 2048 /* longer ones, of long paths, are not remembered */

struct kept {
	struct group group;
	UT_hash_handle hh;
	char text[]; /* of /proc/PID/cgroup */
};

struct group_lookup {
	struct kept *kept;
	struct group last; /* returned last, if it is not kept */
};

int group_lookup_new(struct group_lookup **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

static void group_done(struct group *group)
{
	free(group->path);
	free(group->unit);
	*group = (struct group){ 0 };
}

static void forget_all(struct group_lookup *lookup)
{
	struct kept *kept, *next;

	HASH_ITER(hh, lookup->kept, kept, next) {
		HASH_DEL(lookup->kept, kept);
		group_done(&kept->group);
		free(kept);
	}
}

struct group_lookup *group_lookup_free(struct group_lookup *lookup)
{
	if (!lookup)
		return NULL;
	forget_all(lookup);
	group_done(&lookup->last);
	free(lookup);
	return NULL;
}

/*
 * What the kernel says of the process. 1 if it says something, and all of it has room in @ret; else
 * 0, or -ESRCH if there is no such process.
 */
static int read_text(int32_t pid, char ret[static MAX_TEXT])
{
	_cleanup_close_ int fd = -1;
	size_t n = 0;
	ssize_t r;

	snprintf(ret, MAX_TEXT, "/proc/%d/cgroup", pid);
	fd = open(ret, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : 0;
	do {
		r = read(fd, ret + n, MAX_TEXT - n);
		n += r > 0 ? (size_t)r : 0;
	} while (r > 0 && n < MAX_TEXT);
	if (r != 0 || n == 0)
		return 0;
	ret[n] = '\0';
	return 1;
}

/* Asks libsystemd: as group_lookup_find(). */
static int ask(int32_t pid, struct group *ret)
{
	_cleanup_free_ char *path = NULL, *unit = NULL;
	int r;

	if (sd_pid_get_cgroup(pid, &path) < 0)
		return 0;
	r = sd_pid_get_unit(pid, &unit);
	if (r < 0 && r != -ENODATA)
		return 0;
	if (unit ? container_choose(unit, path) != unit : strcmp(path, "/") != 0) {
		free(unit);
		unit = strdup(path);
		if (!unit)
			return -ENOMEM;
	}
	*ret = (struct group){ TAKE_PTR(path), TAKE_PTR(unit) };
	return 1;
}

/* Keeps what was returned last, if there is memory for it; where it is then. */
static const struct group *keep(struct group_lookup *lookup, const char *text)
{
	size_t n = strlen(text);
	struct kept *kept = calloc(1, sizeof(*kept) + n + 1);

	if (!kept)
		return &lookup->last;
	if (HASH_COUNT(lookup->kept) >= MAX_KEPT)
		forget_all(lookup);
	memcpy(kept->text, text, n);
	HASH_ADD_KEYPTR(hh, lookup->kept, kept->text, n, kept);
	if (!kept->hh.tbl) {
		free(kept);
		return &lookup->last;
	}
	kept->group = lookup->last;
	lookup->last = (struct group){ 0 };
	return &kept->group;
}

int group_lookup_find(struct group_lookup *lookup, int32_t pid, const struct group **ret)
{
	char text[MAX_TEXT], after[MAX_TEXT];
	int readable = pid > 0 ? read_text(pid, text) : -ESRCH;
	struct kept *kept = NULL;
	int r;

	if (readable < 0)
		return 0;
	if (readable)
		HASH_FIND(hh, lookup->kept, text, strlen(text), kept);
	if (kept) {
		*ret = &kept->group;
		return 1;
	}
	group_done(&lookup->last);
	r = ask(pid, &lookup->last);
	if (r <= 0)
		return r;
	*ret = &lookup->last;
	/* it may have moved meanwhile */
	if (readable && read_text(pid, after) > 0 && strcmp(text, after) == 0)
		*ret = keep(lookup, text);
	return 1;
}
