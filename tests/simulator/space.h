/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * space: one address space: its executable mappings (and on request those of other parts of files)
 * and its code. Threads and vfork children share
 * one; fork and exec make a new one. Each has a number, its image, that no other space of the run
 * has.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct code;

struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t pgoff;
	uint64_t ino;
	uint32_t maj;
	uint32_t min;
	uint32_t prot;
	uint32_t flags;
	char *path; /* "//anon" for what has no file, as in the kernel's records */
};

struct space {
	unsigned n_refs;
	bool with_data; /* mappings of files that are not executable, too */
	uint64_t image;
	struct code *code;
	struct mapping *mappings;
	size_t n_mappings;
};

typedef void space_on_mapping(void *ctx, const struct mapping *mapping);

/* pid is any stopped task that has the space; nothing is mapped before space_update(). */
int space_new(struct space **ret, pid_t pid, uint64_t image, bool with_data);
struct space *space_ref(struct space *s);
struct space *space_unref(struct space *s);
/* Reads the mappings again, forgets the code of those that are gone, and calls for each one that is
 * new. */
int space_update(struct space *s, pid_t pid, space_on_mapping *on_mapping, void *ctx);
/* The mapping of the stopped task that has @addr, of whatever kind. -ENOENT: none. */
int space_find_range(pid_t tid, uint64_t addr, uint64_t *ret_start, uint64_t *ret_end);
/* Whether something executable lies in the range. */
bool space_overlaps(const struct space *s, uint64_t start, uint64_t end);
