/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of processes: applies events, and checks the mappings that follow. */
#pragma once

#include <cmocka.h>

#include "common/process/processes.h"

#define SAMPLED 7u /* a context, whoever gave it */

static inline struct processes *make(void)
{
	struct processes *p = NULL;

	assert_int_equal(processes_new(&p), 0);
	return p;
}

static inline void apply(struct processes *p, const struct event *e)
{
	assert_int_equal(processes_apply(p, e), 0);
}

static inline void map_as(struct processes *p, int32_t pid, uint64_t address, const char *path,
			  bool executable)
{
	struct event e = { .kind = EVENT_MAPPING,
			   .pid = pid,
			   .tid = pid,
			   .mapping = { .address = address,
					.n_bytes = 0x1000,
					.file_offset = 0x500,
					.path = path,
					.executable = executable } };

	apply(p, &e);
}

static inline void map(struct processes *p, int32_t pid, uint64_t address, const char *path)
{
	map_as(p, pid, address, path, true);
}

static inline void map_kernel(struct processes *p, uint64_t address, uint64_t n_bytes,
			      uint64_t offset, const char *path)
{
	struct event e = { .kind = EVENT_MAPPING,
			   .pid = -1,
			   .mapping = { .address = address,
					.n_bytes = n_bytes,
					.file_offset = offset,
					.path = path,
					.executable = true,
					.kernel = true } };

	apply(p, &e);
}

static inline void comm(struct processes *p, int32_t pid, int32_t tid, const char *name, bool exec)
{
	struct event e = {
		.kind = EVENT_COMM, .pid = pid, .tid = tid, .comm = { .comm = name, .exec = exec }
	};

	apply(p, &e);
}

static inline void fork_at(struct processes *p, int32_t parent, int32_t pid, int32_t tid,
			   uint64_t time, bool exec)
{
	struct event e = { .kind = EVENT_FORK,
			   .pid = pid,
			   .tid = tid,
			   .time_ns = time,
			   .fork = { .parent_pid = parent, .parent_tid = parent, .exec = exec } };

	apply(p, &e);
}

static inline void exit_of(struct processes *p, int32_t pid, int32_t tid)
{
	struct event e = { .kind = EVENT_EXIT, .pid = pid, .tid = tid };

	apply(p, &e);
}

static inline const char *path_at(const struct processes *p, const struct process_context *i,
				  uint64_t address)
{
	const struct mapping *m = processes_locate(p, i, address);

	return m ? m->object->what.path : "nothing";
}

static inline void assert_at(struct processes *p, int32_t pid, uint64_t address, const char *path)
{
	assert_string_equal(path_at(p, processes_find(p, pid), address), path);
}
