/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What several windows counted together, in few bytes and with the ids of the database: noted while
 * they are read into a sum, to be added to other sums sooner than they are read again.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "common/util/macro.h"
#include "daemon/rows/function-sum.h"

struct count_slot {
	/* Rows of LEB128 numbers: as a signed one the difference to the id before; the flags below;
	 * samples in it; of a function or an object, samples with it in their stack; with
	 * SLOT_HAS_VARIANCE the variance of the latter; with SLOT_HAS_RUNS four more, as in a
	 * tally; with SLOT_HAS_GONE how many have gone. */
	uint8_t *rows;
	size_t n_bytes;
	int64_t *executables; /* strings of the database; by function and object */
	size_t n_executables;
	struct profile *head; /* the windows' counters and info, without rows */
	int64_t first, last;  /* ids of its windows: the least and the largest */
	int64_t n_windows;    /* in the database between these */
	uint64_t database;    /* where the ids are from; ... */
	uint64_t n_pruned;    /* ... which had pruned that number of windows */
};

enum {
	SLOT_IS_OBJECT = 1,
	SLOT_HAS_RUNS = 2,
	SLOT_IS_GONE = 4, /* the row is of processes that have gone */
	SLOT_HAS_GONE = 8,
	SLOT_HAS_VARIANCE = 16,
};

struct count_slot *count_slot_free(struct count_slot *slot);
DEFINE_CLEANUP(struct count_slot *, count_slot_free);

size_t count_slot_bytes(const struct count_slot *slot);

/*
 * What is read into @sum from now on is noted, until count_slot_end(), or function_sum_free().
 * Until then the sum lacks their counters. 0 or -ENOMEM.
 */
int count_slot_begin(struct function_sum *sum);
/* 1 and *@ret; 0: some of it cannot be noted; -ENOMEM. */
int count_slot_end(struct function_sum *sum, struct count_slot **ret);

/* Makes room for all rows of the sum. 0 or -ENOMEM. */
int count_slot_reserve(struct function_sum *sum);
/* Notes what was added to row number @row. */
static inline void count_slot_note(struct function_recording *recording, size_t row,
				   const struct function_tally *tally, uint64_t n_gone)
{
	struct recorded_row *noted = &recording->rows[row];

	noted->found = true;
	function_tally_add(&noted->tally, tally);
	noted->n_gone += n_gone;
}
/* Notes that @string of the database is an executable. 0 or -ENOMEM. */
int count_slot_note_executable(struct function_sum *sum, int64_t string);

/* A row of a slot. */
struct count_slot_row {
	int64_t id;
	unsigned int flags;
	struct function_tally tally;
	uint64_t n_gone;
};

/* Reads the next row: from *@at, which begins as 0, with @row as it was read before. False: there
 * are no more. */
bool count_slot_next(const struct count_slot *slot, size_t *at, struct count_slot_row *row);
