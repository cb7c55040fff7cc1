/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The call stacks of a profile as other tools want them: a tree for each process, whose nodes are
 * functions, and a table of the functions. All names are text without control characters.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/view/place.h"
#include "common/profile/profile.h"

struct call_tree_frame {
	struct location at; /* the start of the function; without one, a location of the object */
	const struct profile_object *object;     /* NULL: none */
	const struct profile_function *function; /* NULL: none */
	char *name;
};

struct call_tree_row {
	uint32_t parent; /* less than its own number, or PROFILE_NONE */
	uint32_t frame, process;
	uint64_t samples, weight; /* of the stacks that end here */
	uint64_t variance;        /* what estimating adds to that of the samples */
};

struct call_tree {
	const struct profile *profile;
	struct call_tree_frame *frames;
	struct call_tree_row *rows;
	size_t n_frames, cap_frames, n_rows, cap_rows;
	uint32_t *path; /* room for call_tree_path() */
};

enum call_tree_unknown {
	CALL_TREE_BY_OBJECT,  /* code without symbols is one function of its object */
	CALL_TREE_BY_ADDRESS, /* each location is one, as in view_tree() */
};

/* Borrows the profile of @places. 0 or -ENOMEM. */
int call_tree_new(struct call_tree **ret, const struct places *places,
		  enum call_tree_unknown unknown);
struct call_tree *call_tree_free(struct call_tree *tree);
DEFINE_CLEANUP(struct call_tree *, call_tree_free);

/* The rows from a root down to @row, valid until the next call; *@ret_n is their number. */
const uint32_t *call_tree_path(struct call_tree *tree, uint32_t row, size_t *ret_n);
