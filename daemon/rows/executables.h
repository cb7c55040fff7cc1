/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which executables the processes of windows ran. A day of a busy machine has tens of thousands of
 * processes and few executables: processes are read once, those with neighbouring ids together.
 */
#pragma once

#include <stdint.h>

#include "daemon/database/database.h"
#include "daemon/rows/function-sum.h"

#define N_STORE_EXECUTABLES 2

struct store_executables {
	struct database *database;
	struct statement *statements[N_STORE_EXECUTABLES];
};

/* 0 or -errno. */
int store_executables_init(struct store_executables *executables, struct database *database);

/* Adds @string of the database, 0 for none. 0 or -errno. */
int store_executables_add(struct store_executables *executables, struct function_sum *sum,
			  int64_t string);

/* The window that is read has process @id, 0 for none; they ascend. 0 or -ENOMEM. */
int store_executables_note(struct function_sum *sum, int64_t id);
/* Adds to the sum what those ran that were noted since sum->n_fresh was 0. 0 or -errno. */
int store_executables_end(struct store_executables *executables, struct function_sum *sum);
