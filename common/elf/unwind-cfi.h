/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Call frame information by libdw: its entries, and the rule at an address. */
#pragma once

#include <stdint.h>

#include "common/elf/image.h"
#include "common/unwind/table.h"
#include "common/util/macro.h"

struct unwind_cfi;

/* .eh_frame, or else .debug_frame. @image is borrowed. 0; -ENODATA if it has none, or is of another
 * machine; or -ENOMEM. */
int unwind_cfi_open(struct unwind_cfi **ret, struct elf_image *image);
struct unwind_cfi *unwind_cfi_free(struct unwind_cfi *cfi);
DEFINE_CLEANUP(struct unwind_cfi *, unwind_cfi_free);

/* Gives back what it remembers of entries, where it finds them again without a search. */
void unwind_cfi_forget(struct unwind_cfi *cfi);

struct unwind_entry {
	uint64_t start, end; /* addresses; start < end */
	uint64_t n_bytes;    /* of its instructions */
};

/* A handler returns 0, or a negative errno, which ends the loop and becomes its result. Entries
 * that are malformed are left out. */
typedef int (*unwind_entry_handler)(const struct unwind_entry *entry, void *userdata);
int unwind_cfi_for_each(struct unwind_cfi *cfi, unwind_entry_handler handler, void *userdata);

/*
 * The rule at @address, UNWIND_CFA_NONE if it is malformed or cannot be told by a rule, and
 * *@ret_end, where it ends; UINT64_MAX: with the entry. 0 or -ENOMEM.
 */
int unwind_cfi_rule(struct unwind_cfi *cfi, uint64_t address, struct unwind_rule *ret,
		    uint64_t *ret_end);
