/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/record/inflate.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

struct inflate {
	ZSTD_DStream *stream;
	ZSTD_inBuffer in;
	uint64_t file_offset;
	struct chunk *chunk;
	size_t at; /* of the first byte in the chunk not handed out yet */
};

int inflate_new(struct inflate **ret)
{
	_cleanup_(inflate_freep) struct inflate *i = calloc(1, sizeof(*i));

	if (!i)
		return -ENOMEM;
	i->stream = ZSTD_createDStream();
	if (!i->stream)
		return -ENOMEM;
	*ret = TAKE_PTR(i);
	return 0;
}

struct inflate *inflate_free(struct inflate *inflate)
{
	if (!inflate)
		return NULL;
	ZSTD_freeDStream(inflate->stream);
	chunk_unref(inflate->chunk);
	free(inflate);
	return NULL;
}

void inflate_feed(struct inflate *inflate, const void *p, size_t n, uint64_t file_offset)
{
	inflate->in = (ZSTD_inBuffer){ .src = p, .size = n };
	inflate->file_offset = file_offset;
}

size_t inflate_n_left(const struct inflate *inflate)
{
	return inflate->chunk ? inflate->chunk->n_used - inflate->at : 0;
}

/* A chunk with room in it; what of a record the old one ended with moves along. */
static int make_room(struct inflate *i)
{
	struct chunk *fresh;
	size_t left = inflate_n_left(i);

	if (i->chunk && i->chunk->n_used < CHUNK_BYTES)
		return 0;
	fresh = chunk_new(i->file_offset);
	if (!fresh)
		return -ENOMEM;
	if (left > 0)
		memcpy(fresh->data, i->chunk->data + i->at, left);
	fresh->n_used = left;
	chunk_unref(i->chunk);
	i->chunk = fresh;
	i->at = 0;
	return 0;
}

/* Unpacks on into the chunk: 1, or 0 when the piece is used up and has no more to give. */
static int unpack(struct inflate *i, struct fault *fault)
{
	ZSTD_outBuffer out = { i->chunk->data, CHUNK_BYTES, i->chunk->n_used };
	size_t in_before = i->in.pos, r = ZSTD_decompressStream(i->stream, &out, &i->in);
	bool stuck = out.pos == i->chunk->n_used && i->in.pos == in_before;

	if (ZSTD_isError(r))
		return fault_set(fault, -EBADMSG, "compressed data cannot be unpacked: %s",
				 ZSTD_getErrorName(r));
	if (stuck && i->in.pos < i->in.size)
		return fault_set(fault, -EBADMSG,
				 "compressed data cannot be unpacked: no progress");
	i->chunk->n_used = out.pos;
	return !stuck;
}

int inflate_next(struct inflate *inflate, const struct perf_event_header **ret,
		 struct chunk **ret_chunk, struct fault *fault)
{
	int r;

	for (;;) {
		size_t left = inflate_n_left(inflate);
		const struct perf_event_header *record;

		if (left >= sizeof(*record)) {
			record = (const void *)(inflate->chunk->data + inflate->at);
			if (record->size < sizeof(*record) || record->size % 8 != 0)
				return fault_set(fault, -EBADMSG, "record of %u bytes",
						 record->size);
			if (record->size <= left) {
				inflate->at += record->size;
				*ret = record;
				*ret_chunk = chunk_ref(inflate->chunk);
				return 1;
			}
		}
		r = make_room(inflate);
		if (r < 0)
			return r;
		/* Asked again without input: a full chunk may have kept output back. */
		r = unpack(inflate, fault);
		if (r <= 0)
			return r;
	}
}
