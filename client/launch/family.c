/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/launch/family.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client/launch/children.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

#define RING_PAGES    32
#define MAX_PROCESSES (1u << 20)
/* What two events say of one fork: no number is used again so soon. */
#define MAX_APART_NS  100000000ull

struct member {
	int32_t pid;
	struct family_moment forked;
};

struct family {
	struct rings rings;
	struct children *children; /* NULL: the rings tell; else there are none */
	struct member *members;    /* sorted up to @n_sorted */
	size_t n, cap, n_sorted;
	uint64_t n_lost;
	unsigned char *bytes; /* of records that were not looked at yet */
	size_t n_bytes, cap_bytes;
};

/* As the kernel writes them; more may follow. */
struct fork_record {
	struct perf_event_header header;
	uint32_t pid, parent_pid, tid, parent_tid;
	uint64_t time_ns;
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, n;
};

static int add(struct family *family, int32_t pid, const struct family_moment *forked)
{
	if (family->n >= MAX_PROCESSES) {
		family->n_lost++;
		return 0;
	}
	if (ARRAY_RESERVE(&family->members, &family->cap, family->n + 1) < 0)
		return -ENOMEM;
	family->members[family->n++] = (struct member){ pid, *forked };
	return 0;
}

int family_new(struct family **ret, pid_t pid, const struct family_moment *forked)
{
	_cleanup_(family_freep) struct family *family = calloc(1, sizeof(*family));
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.task = 1,
		.watermark = 1,
		.wakeup_watermark = RING_PAGES * (uint32_t)sysconf(_SC_PAGESIZE) / 4,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC, /* the daemon's */
	};
	int r;

	if (!family)
		return -ENOMEM;
	r = add(family, pid, forked);
	if (r < 0)
		return r;
	if (rings_open(&family->rings, &attr, pid, RING_PAGES) < 0) {
		rings_done(&family->rings);
		r = children_new(&family->children, pid);
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(family);
	return 0;
}

struct family *family_free(struct family *family)
{
	if (!family)
		return NULL;
	rings_done(&family->rings);
	children_free(family->children);
	free(family->members);
	free(family->bytes);
	free(family);
	return NULL;
}

const struct rings *family_rings(const struct family *family)
{
	return &family->rings;
}

static int keep_bytes(const void *bytes, size_t n, void *userdata)
{
	struct family *family = userdata;

	if (ARRAY_RESERVE(&family->bytes, &family->cap_bytes, family->n_bytes + n) < 0)
		return -ENOMEM;
	memcpy(family->bytes + family->n_bytes, bytes, n);
	family->n_bytes += n;
	return 0;
}

/* The fork of a thread names its process twice. */
static int take_fork(struct family *family, const struct fork_record *fork)
{
	const struct family_moment forked = { fork->time_ns, fork->time_ns };

	return fork->pid == fork->parent_pid ? 0 : add(family, (int32_t)fork->pid, &forked);
}

static int take_record(struct family *family, const unsigned char *bytes, size_t n, uint32_t type)
{
	struct fork_record fork;
	struct lost_record lost;

	if (type == PERF_RECORD_FORK && n >= sizeof(fork)) {
		memcpy(&fork, bytes, sizeof(fork));
		return take_fork(family, &fork);
	}
	if (type == PERF_RECORD_LOST && n >= sizeof(lost)) {
		memcpy(&lost, bytes, sizeof(lost));
		family->n_lost += lost.n;
	}
	return 0;
}

static int add_found(int32_t pid, uint64_t earliest_ns, uint64_t latest_ns, void *userdata)
{
	const struct family_moment forked = { earliest_ns, latest_ns };

	return add(userdata, pid, &forked);
}

int family_update(struct family *family)
{
	int r;

	if (family->children)
		return children_look(family->children, add_found, family);
	r = rings_drain(&family->rings, keep_bytes, family);
	for (size_t at = 0; r >= 0 && at + sizeof(struct perf_event_header) <= family->n_bytes;) {
		struct perf_event_header header;

		memcpy(&header, family->bytes + at, sizeof(header));
		if (header.size < sizeof(header) || header.size > family->n_bytes - at)
			break;
		r = take_record(family, family->bytes + at, header.size, header.type);
		at += header.size;
	}
	family->n_bytes = 0;
	return r;
}

int family_wait_ms(const struct family *family)
{
	return family->children ? children_wait_ms(family->children) : -1;
}

bool family_is_exact(const struct family *family)
{
	return !family->children;
}

uint64_t family_n_lost(const struct family *family)
{
	return family->n_lost + (family->children ? children_n_omitted(family->children) : 0);
}

bool family_write_pids(const struct family *family, char *text, size_t n_bytes)
{
	size_t at = 0;

	for (size_t i = 0; i < family->n && at < n_bytes; i++)
		at += (size_t)snprintf(text + at, n_bytes - at, "%s%" PRId32, i > 0 ? "," : "",
				       family->members[i].pid);
	return at < n_bytes;
}

static int compare(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* The index of the first member that has this number, or a higher one. */
static size_t find(const struct family *family, int32_t pid)
{
	size_t low = 0, high = family->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (family->members[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_moment(const struct family_moment *moment, uint64_t ns)
{
	return ns + MAX_APART_NS >= moment->earliest_ns && ns <= moment->latest_ns + MAX_APART_NS;
}

bool family_has(const struct profile_process *process, void *userdata)
{
	struct family *family = userdata;

	if (process->pid < 0 || process->start_ns == 0)
		return false;
	if (family->n_sorted < family->n) {
		qsort(family->members, family->n, sizeof(*family->members), compare);
		family->n_sorted = family->n;
	}
	for (size_t i = find(family, process->pid);
	     i < family->n && family->members[i].pid == process->pid; i++)
		if (is_moment(&family->members[i].forked, process->start_ns))
			return true;
	return false;
}
