/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/launch/children.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"

#define MAX_ALIVE   4096
#define MIN_WAIT_MS 5
#define MAX_WAIT_MS 1000
#define REST        20 /* times as long as a look took of CPU time */

/* A process that was alive at the last look. */
struct alive {
	int32_t pid;
	uint64_t ticks; /* when it was forked */
};

struct children {
	struct alive *alive;
	size_t n, cap;
	uint64_t n_omitted;
	int wait_ms;
};

int children_new(struct children **ret, pid_t pid)
{
	_cleanup_(children_freep) struct children *children = calloc(1, sizeof(*children));

	if (access("/proc/thread-self/children", R_OK) < 0)
		return -EOPNOTSUPP; /* without CONFIG_PROC_CHILDREN */
	if (!children || ARRAY_RESERVE(&children->alive, &children->cap, 1) < 0)
		return -ENOMEM;
	children->alive[children->n++] = (struct alive){ .pid = pid };
	*ret = TAKE_PTR(children);
	return 0;
}

struct children *children_free(struct children *children)
{
	if (!children)
		return NULL;
	free(children->alive);
	free(children);
	return NULL;
}

int children_wait_ms(const struct children *children)
{
	return MAX(children->wait_ms, MIN_WAIT_MS);
}

uint64_t children_n_omitted(const struct children *children)
{
	return children->n_omitted;
}

/* The parent of @pid and its begin in ticks, which come after a name that may have brackets. */
static bool read_stat(int32_t pid, int32_t *ret_parent, uint64_t *ret_ticks)
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[64], line[1024], *at;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/stat", pid);
	f = fopen(path, "re");
	if (!f || !fgets(line, sizeof(line), f))
		return false;
	at = strrchr(line, ')');
	return at && sscanf(at + 1,
			    " %*c %" SCNd32 " %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
			    "%*d %*d %*d %*d %" SCNu64,
			    ret_parent, ret_ticks) == 2;
}

static bool is_known(const struct children *children, const struct alive *wanted)
{
	for (size_t i = 0; i < children->n; i++)
		if (children->alive[i].pid == wanted->pid &&
		    children->alive[i].ticks == wanted->ticks)
			return true;
	return false;
}

/* What a look needs available. */
struct look {
	struct children *children;
	children_found found;
	void *userdata;
	uint64_t asleep_ns; /* what the clock of ticks, CLOCK_BOOTTIME, is ahead of CLOCK_MONOTONIC
			     */
	uint64_t tick_ns;
};

static int take_child(struct look *look, int32_t pid, int32_t parent)
{
	struct children *children = look->children;
	struct alive child = { .pid = pid };
	uint64_t forked_ns;
	int32_t its_parent;
	int r;

	if (!read_stat(pid, &its_parent, &child.ticks) || its_parent != parent)
		return 0; /* it has gone, and its number may be another's */
	if (is_known(children, &child))
		return 0;
	if (children->n >= MAX_ALIVE) {
		children->n_omitted++;
		return 0;
	}
	if (ARRAY_RESERVE(&children->alive, &children->cap, children->n + 1) < 0)
		return -ENOMEM;
	forked_ns = child.ticks * look->tick_ns;
	forked_ns -= MIN(forked_ns, look->asleep_ns);
	r = look->found(pid, forked_ns, forked_ns + look->tick_ns, look->userdata);
	children->alive[children->n++] = child;
	return r;
}

/* The children that one thread of @parent has started. */
static int look_at_thread(struct look *look, int32_t parent, const char *thread)
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[128];
	int32_t pid;
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/task/%.16s/children", parent, thread);
	f = fopen(path, "re");
	while (f && r >= 0 && fscanf(f, "%" SCNd32, &pid) == 1)
		r = take_child(look, pid, parent);
	return r;
}

/* The first one cannot be another: it was not waited for. */
static bool is_alive(const struct alive *one)
{
	int32_t parent;
	uint64_t ticks;

	return one->ticks == 0 || (read_stat(one->pid, &parent, &ticks) && ticks == one->ticks);
}

/* 1; 0 if it has gone; -errno. */
static int look_at(struct look *look, const struct alive *one)
{
	const struct dirent *entry;
	char path[64];
	int r = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/task", one->pid);
	dir = is_alive(one) ? opendir(path) : NULL;
	if (!dir)
		return 0;
	while (r >= 0 && (entry = readdir(dir)))
		if (isdigit((unsigned char)entry->d_name[0]))
			r = look_at_thread(look, one->pid, entry->d_name);
	closedir(dir);
	return r < 0 ? r : 1;
}

/* Those found are looked at as well, because they are behind the others. */
int children_look(struct children *children, children_found found, void *userdata)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC); /* first, because it is not the greater one */
	struct look look = {
		.children = children,
		.found = found,
		.userdata = userdata,
		.asleep_ns = clock_ns(CLOCK_BOOTTIME) - now_ns,
		.tick_ns = 1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK),
	};
	uint64_t began_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), ms;
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < children->n; i++) {
		struct alive one = children->alive[i];

		r = look_at(&look, &one);
		if (r > 0)
			children->alive[n++] = one;
	}
	children->n = n;
	ms = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns) * REST / 1000000;
	children->wait_ms = (int)MIN(ms, (uint64_t)MAX_WAIT_MS);
	return r < 0 ? r : 0;
}
