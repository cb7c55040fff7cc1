/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory for records that do not lie in the mapped file: unpacked ones. A chunk holds many and
 * lives until the last of them has been let go.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/util/macro.h"

#define CHUNK_BYTES (256u * 1024) /* four of the longest records */

#define CHUNK_OFFSETS_WITHIN UINT64_MAX /* each record has its own in the 8 bytes before it */

struct chunk {
	unsigned int n_refs;
	unsigned int n_waiting; /* references of records that wait to be put in order */
	size_t n_used;
	uint64_t file_offset; /* of the packed record that the first of its bytes came from, or: */
	_Alignas(8) char data[CHUNK_BYTES];
};

struct chunk *chunk_new(uint64_t file_offset); /* NULL when memory ran out */
struct chunk *chunk_ref(struct chunk *chunk);
struct chunk *chunk_unref(struct chunk *chunk); /* accepts NULL */
