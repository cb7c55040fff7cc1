/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Slots of counts, see count-slot.h, to and from the database whose ids they have. */
#pragma once

#include "daemon/database/database.h"
#include "daemon/database/lookup.h"
#include "daemon/rows/count-slot.h"
#include "daemon/rows/executables.h"
#include "daemon/rows/owners.h"

struct store_slots {
	struct statement *count;
	struct store_owners *owners; /* borrowed, as the next */
	struct store_executables *executables;
};

/* 0 or -errno. */
int store_slots_init(struct store_slots *slots, struct database *database,
		     struct store_owners *owners, struct store_executables *executables);

/* The slot that count_slot_end() made of windows that were just read. In a transaction of the
 * caller. 0 or -errno. */
int store_slots_end(struct store_slots *slots, struct count_slot *slot);

/* Adds what its windows counted, if they are there still: 1; 0: they are not; -errno. In a
 * transaction of the caller. */
int store_slots_add(struct store_slots *slots, struct store_lookup *lookup,
		    const struct count_slot *slot, struct function_sum *sum);
