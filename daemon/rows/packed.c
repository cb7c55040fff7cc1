/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/packed.h"

#include <errno.h>
#include <stdlib.h>

#include <zstd.h>

#include "common/util/cleanup.h"

#define LEVEL     1
#define MAX_BYTES ((size_t)256 << 20)

int packed_write(const void *data, size_t n, uint8_t **ret, size_t *ret_n)
{
	size_t room = ZSTD_compressBound(n), written;
	_cleanup_free_ uint8_t *bytes = malloc(room);
	uint8_t *fitting;

	if (!bytes)
		return -ENOMEM;
	written = ZSTD_compress(bytes, room, data, n, LEVEL);
	if (ZSTD_isError(written))
		return -ENOMEM;
	fitting = realloc(bytes, written);
	*ret = fitting ?: bytes;
	TAKE_PTR(bytes);
	*ret_n = written;
	return 0;
}

int packed_read(const void *data, size_t n, uint8_t **ret, size_t *ret_n)
{
	unsigned long long size = ZSTD_getFrameContentSize(data, n);
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t read;

	if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > MAX_BYTES)
		return -EBADMSG;
	bytes = malloc(size > 0 ? (size_t)size : 1);
	if (!bytes)
		return -ENOMEM;
	read = ZSTD_decompress(bytes, (size_t)size, data, n);
	if (ZSTD_isError(read) || read != size)
		return -EBADMSG;
	*ret = TAKE_PTR(bytes);
	*ret_n = read;
	return 0;
}
