/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stream as JSON. */
#pragma once

#include <jansson.h>

#include "client/view/place.h"
#include "client/view/stream.h"

/*
 * {"frames", "loops"}: the places of the path that ends in @node, newest first, of each branch
 * where it went and then where it came from; and where equal turns of a loop are among the
 * branches. NULL when memory ran out.
 */
json_t *stream_json(const struct places *places, const struct view_streams *streams, uint32_t node);
