/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of limit.h share: whose rows are too many, and which of them are kept. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"

struct limit_user {
	uint32_t uid;
	uint64_t limit;            /* as the caller said */
	uint64_t max_rows, n_rows; /* of the rows in work */
};

struct limit_ranked; /* of limit.c */
struct limit_rest;   /* of stacks.c */

struct limit_work {
	struct profile *p;
	struct limit_user *users; /* sorted; the last is the unknown one */
	size_t n_users;
	uint32_t *user_of; /* by process; behind them, that of no process */
	uint64_t *weights; /* of the table in work */
	bool *kept;
	uint32_t *map; /* of a tree: where a node is now, or its nearest ancestor; or none */
	struct limit_ranked *ranked;
	struct limit_rest *rest;
	size_t n_rest;
	bool pruned;
};

/* The processes of a table's rows, which begin with it, as these functions take them. */
#define LIMIT_PROCESSES(rows, n) &(rows)->process, n, sizeof(*(rows)) / sizeof((rows)->process)

struct limit_user *limit_user_of(const struct limit_work *l, uint32_t process);

/*
 * Counts how many of @n rows each user has. Each row begins with its process; from one to the next
 * are @size numbers. Whether anybody has more than max_rows.
 */
bool limit_has_too_many(struct limit_work *l, const uint32_t *processes, size_t n, size_t size);

/* Chooses which rows are kept, by their weights. False: all are. */
bool limit_choose(struct limit_work *l, const uint32_t *processes, size_t n, size_t size);

/* The tables: 0 or -ENOMEM. */
int limit_stacks(struct limit_work *l);
int limit_streams(struct limit_work *l);
int limit_branches(struct limit_work *l);
int limit_blocks(struct limit_work *l);
