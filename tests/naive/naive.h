/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Resolves addresses in the naive way: a list of the mappings, execs and forks of a recording,
 * searched from its end for each address. It shares only the decoded events with the code under
 * test.
 */
#pragma once

#include <stdint.h>

#include "common/record/event.h"
#include "common/util/strings.h"

/* The object of all locations in the kernel; their offsets are plain addresses. */
#define NAIVE_KERNEL 1u

struct naive_place {
	uint64_t object; /* of a file: its path in the pool of strings, as a number; 0: none */
	uint64_t offset;
};

struct naive {
	struct strings *strings;
	struct naive_change *changes;
	size_t n, cap;
};

void naive_init(struct naive *naive);
void naive_done(struct naive *naive);

/* Applies an event that changes an address space; skips other events. */
void naive_apply(struct naive *naive, const struct event *event);

/* The location of @address in @pid after all events applied. */
struct naive_place naive_locate(const struct naive *naive, int32_t pid, uint64_t address);

/* The number of the object at @path. */
uint64_t naive_object(struct naive *naive, const char *path);
