/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The objects there are: each file, kernel and module once, whoever maps it; and what the build-ids
 * are of those whose mapping did not say.
 */
#pragma once

#include "common/process/address-space.h"
#include "common/record/event.h"

struct objects;

int objects_new(struct objects **ret);
struct objects *objects_free(struct objects *objects);
DEFINE_CLEANUP(struct objects *, objects_free);

/*
 * The object that @mapping maps, with a reference for the caller, and what to add to an address to
 * get the offset in it. NULL when memory ran out.
 */
struct object *objects_of_mapping(struct objects *objects, const struct mapping_event *mapping,
				  uint64_t *ret_shift);

/* The object of a function that the kernel announced. */
struct object *objects_of_ksymbol(struct objects *objects, const struct ksymbol_event *ksymbol,
				  uint64_t *ret_shift);

/*
 * A build-id told apart from the mapping: of objects of that path, known and to come, which have
 * none. A path told twice with different ones is left without. 0 or -ENOMEM.
 */
int objects_learn_build_id(struct objects *objects, const struct build_id_event *event);
