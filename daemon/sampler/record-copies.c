/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/record-copies.h"

#include <errno.h>
#include <string.h>

void record_copies_done(struct record_copies *copies)
{
	chunk_unref(copies->chunk);
	while (copies->n_spares > 0)
		chunk_unref(copies->spares[--copies->n_spares]);
	*copies = (struct record_copies){};
}

/* The one that was let go last is the most likely to be in the cache. */
static struct chunk *take_chunk(struct record_copies *copies)
{
	if (copies->n_spares > 0)
		return copies->spares[--copies->n_spares];
	return chunk_new(0);
}

int record_copies_add(struct record_copies *copies, const struct perf_event_header *record,
		      struct waiting *ret)
{
	size_t n = (record->size + 7UL) & ~7UL;
	struct chunk *chunk = copies->chunk;
	char *to;

	if (!chunk || CHUNK_BYTES - chunk->n_used < n) {
		record_copies_release(copies, chunk);
		copies->chunk = chunk = take_chunk(copies);
		if (!chunk)
			return -ENOMEM;
	}
	to = chunk->data + chunk->n_used;
	chunk->n_used += n;
	memcpy(to, record, record->size);
	*ret = (struct waiting){ .record = (const void *)to, .chunk = chunk_ref(chunk) };
	return 0;
}

void record_copies_release(struct record_copies *copies, struct chunk *chunk)
{
	if (chunk && chunk->n_refs == 1 && copies->n_spares < RECORD_COPIES_SPARES) {
		chunk->n_used = 0;
		copies->spares[copies->n_spares++] = chunk;
		return;
	}
	chunk_unref(chunk);
}
