/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Brings the rows that a window refers to into its profile: each object, function, stack and stream
 * is read and added once, at its first reference.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "daemon/database/database.h"
#include "daemon/database/id-map.h"

#define N_STORE_LOOKUP 5

/* A stack or a stream; a stack has one place. */
struct store_node {
	int64_t id, parent, place, target;
};

/* The nodes of stacks, or of streams, read so far. */
struct store_tree {
	struct id_map nodes;   /* (id, 0) to parent and place; of streams (id, 1) to target */
	struct id_map indices; /* (process, id) to index */
};

struct store_lookup {
	struct database *database;
	struct statement *statements[N_STORE_LOOKUP];
	struct profile *profile;
	struct id_map objects;   /* ids to indices */
	struct id_map functions; /* to where they begin */
	struct id_map places;    /* to index of the object, and offset */
	struct store_tree stacks, streams;
	struct store_node *path; /* to be added after their parents */
	size_t n_path, cap_path;
};

/* 0 or -errno. */
int store_lookup_init(struct store_lookup *lookup, struct database *database);

/* What follows is added to @profile, borrowed until the end. */
void store_lookup_begin(struct store_lookup *lookup, struct profile *profile);
void store_lookup_end(struct store_lookup *lookup);

/* Each 0 or -errno, -EBADMSG if there is no such row. */
int store_lookup_place(struct store_lookup *lookup, int64_t id, struct location *ret);
/* *@ret, unless NULL, is where it begins; nothing is done for 0. */
int store_lookup_function(struct store_lookup *lookup, int64_t id, struct location *ret);
/* *@ret is its index, PROFILE_NONE of 0. */
int store_lookup_object(struct store_lookup *lookup, int64_t id, uint32_t *ret);
/*
 * *@ret is the index of the node, added with its parents and no counts, of the process at that
 * index; PROFILE_NONE of stack 0, below which there is nothing. A stream is one.
 */
int store_lookup_stack(struct store_lookup *lookup, uint32_t process, int64_t id, uint32_t *ret);
int store_lookup_stream(struct store_lookup *lookup, uint32_t process, int64_t id, uint32_t *ret);
