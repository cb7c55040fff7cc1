/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libdw could decompress too, but without a limit: one packed kilobyte may become seven thousand.
 */
#include "common/elf/xz.h"

#include <errno.h>
#include <stdlib.h>

#include <lzma.h>

#include "common/util/cleanup.h"

#define MAX_DICTIONARY (128UL << 20)

/* Decompresses all of @stream into *@out, which grows up to @max bytes. */
static lzma_ret unpack(lzma_stream *stream, uint8_t **out, size_t max)
{
	size_t size = 0;
	lzma_ret x = LZMA_OK;

	while (x == LZMA_OK && size < max) {
		size_t more = size ? MIN(size, max - size) : MIN((size_t)65536, max);
		uint8_t *grown = realloc(*out, size + more);

		if (!grown)
			return LZMA_MEM_ERROR;
		*out = grown;
		stream->next_out = grown + size;
		stream->avail_out = more;
		size += more;
		x = lzma_code(stream, LZMA_FINISH);
	}
	return x;
}

int xz_unpack(const uint8_t *packed, size_t n, size_t max, uint8_t **ret, size_t *ret_n)
{
	_cleanup_free_ uint8_t *out = NULL;
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret x = lzma_stream_decoder(&stream, MAX_DICTIONARY, 0);
	size_t n_out;

	if (x != LZMA_OK)
		return -ENOMEM;
	stream.next_in = packed;
	stream.avail_in = n;
	x = unpack(&stream, &out, max);
	n_out = (size_t)stream.total_out;
	lzma_end(&stream);
	if (x != LZMA_STREAM_END)
		return x == LZMA_MEM_ERROR ? -ENOMEM : -EBADMSG;
	*ret = TAKE_PTR(out);
	*ret_n = n_out;
	return 0;
}
