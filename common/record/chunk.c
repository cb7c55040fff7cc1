/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/record/chunk.h"

#include <stdlib.h>

struct chunk *chunk_new(uint64_t file_offset)
{
	struct chunk *chunk = malloc(sizeof(*chunk));

	if (!chunk)
		return NULL;
	chunk->n_refs = 1;
	chunk->n_waiting = 0;
	chunk->n_used = 0;
	chunk->file_offset = file_offset;
	return chunk;
}

struct chunk *chunk_ref(struct chunk *chunk)
{
	chunk->n_refs++;
	return chunk;
}

struct chunk *chunk_unref(struct chunk *chunk)
{
	if (chunk && --chunk->n_refs == 0)
		free(chunk);
	return NULL;
}
