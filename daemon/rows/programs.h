/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which processes ran the same program: those of one name and executable. A day of a busy machine
 * has a hundred thousand processes and some hundred programs. What parts of the time counted is
 * noted by process, since the name of the program is that of its hottest process, which is not
 * known before the end; then it is added up.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/macro.h"
#include "daemon/database/database.h"
#include "daemon/database/id-map.h"
#include "daemon/rows/function-sum.h"

struct program_count {
	uint32_t row; /* of the sum */
	uint64_t samples;
};

struct program_part {
	size_t end; /* of its counts, which begin where those of the part before end */
	uint64_t samples;
};

struct program_sum {
	struct program_count *counts;
	size_t n_counts, cap_counts;
	struct program_part *parts;
	size_t n_parts, cap_parts;

	/* While programs are looked up: */
	struct program_count *order; /* rows by the ids of their processes; NULL: not begun */
	size_t n_order, n_done;
	struct id_map by_name; /* a name and an executable to the row that was the first of it */
	uint32_t *programs;    /* of each row, the first of its program */
	uint32_t *hottest;     /* of such a first row, that of the hottest process */
	bool is_added_up;
};

/* 0 or -ENOMEM. */
int program_sum_new(struct program_sum **ret);
struct program_sum *program_sum_free(struct program_sum *programs);
DEFINE_CLEANUP(struct program_sum *, program_sum_free);

/* Of memory. */
size_t program_sum_bytes(const struct program_sum *programs);

/* Notes what the part of @sum counted that is complete. 0 or -ENOMEM. */
int program_sum_add_part(struct program_sum *programs, const struct function_sum *sum);

struct store_programs {
	struct database *database;
	struct statement *read;
};

/* 0 or -errno. */
int store_programs_init(struct store_programs *store, struct database *database);

/*
 * Looks up the programs of some more processes of @sum, which is by process, has no names yet and
 * is of stored windows alone: 1. 0: that was all, and @sum has one row for each program, that of
 * its hottest process. Or -errno.
 */
int store_programs_find(struct store_programs *store, struct program_sum *programs,
			struct function_sum *sum);
