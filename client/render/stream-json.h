/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stream as JSON. */
#pragma once

#include <jansson.h>

#include "client/stream/stream-tree.h"
#include "client/view/place.h"

/*
 * {"frames", "loops"}: the places of the path that ends in @node, newest first, for each branch its
 * target and then its source; and the loops among the branches. NULL when out of memory.
 */
json_t *stream_json(const struct places *places, const struct view_streams *streams, uint32_t node);

/*
 * The same of a stream by line: its frames with the places of @side, each turn of a loop once, and
 * the loops with the range of their turns.
 */
json_t *stream_json_lines(const struct places *places, const struct stream_tree *tree,
			  enum side side, uint32_t node);
