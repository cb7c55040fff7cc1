/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A process between two changes of its name, its program, its owner or its address space. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/process/address-space.h"
#include "common/util/macro.h"

struct process_context {
	int32_t pid;
	uint64_t start_ns;      /* 0 where the fork was not seen */
	const char *comm;       /* of its first thread */
	const char *executable; /* NULL until known */
	const char *unit;       /* set by processes_identify(), as are the next three */
	uint32_t uid;           /* effective; UINT32_MAX where unknown */
	bool restricted;        /* its user may not look into it, or that is not known */
	uint64_t cgroup;        /* 0: not set since the exec */
	bool exec_seen;         /* so the first mapping is the executable */
	struct address_space *space;
	unsigned int n_refs;
	/* With one reference nobody keeps addresses of it, and it may change in place. */
	uint32_t context;      /* the number that its holder gave it; or PROFILE_NONE */
	uint32_t cold_context; /* ... for the branch records of cold samples */
};

struct process_context *process_context_ref(struct process_context *process_context);
struct process_context *process_context_unref(struct process_context *process_context);
DEFINE_CLEANUP(struct process_context *, process_context_unref);

/* A copy of @from with the name @comm, unless that is NULL, and with @space, to which it takes a
 * reference; without @space its address space is empty. NULL when memory ran out. */
struct process_context *process_context_new(const struct process_context *from, const char *comm,
					    struct address_space *space);

/* *@ret is a copy of a string that may be NULL; false if memory ran out. */
bool process_context_copy_string(const char **ret, const char *s);
