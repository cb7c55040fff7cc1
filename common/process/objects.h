/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All objects: each file, kernel and module once, whoever maps it; and build-ids that were reported
 * apart from the mappings. */
#pragma once

#include "common/process/address-space.h"
#include "common/record/event.h"

struct objects;

int objects_new(struct objects **ret);
struct objects *objects_free(struct objects *objects);
DEFINE_CLEANUP(struct objects *, objects_free);

/* From now on, files that had one inode after the other are different objects, and so is the
 * anonymous memory of processes that had one pid after the other. */
void objects_keep_generations(struct objects *objects);

/* Whose mapping it is. */
struct mapping_owner {
	int32_t pid;
	uint64_t start_ns; /* 0: unknown */
};

/*
 * The object that @mapping maps, with a reference for the caller; *@ret_shift plus an address is
 * the offset in it. Anonymous memory is an object of @owner, called "perf-PID.map" as the file in
 * which a JIT compiler names its functions. NULL when memory ran out.
 */
struct object *objects_of_mapping(struct objects *objects, const struct mapping_event *mapping,
				  const struct mapping_owner *owner, uint64_t *ret_shift);

/* The object of a function that the kernel announced. */
struct object *objects_of_ksymbol(struct objects *objects, const struct ksymbol_event *ksymbol,
				  uint64_t *ret_shift);

/* A build-id reported apart from the mappings. It applies to objects of that path, present and
 * future, that have none. A path reported with two different build-ids has none. 0 or -ENOMEM. */
int objects_learn_build_id(struct objects *objects, const struct build_id_event *event);
