/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/export/gzip.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "common/util/cleanup.h"

#define WINDOW_BITS  (MAX_WBITS + 16) /* 16 asks for the header of gzip */
#define MEMORY_LEVEL 8                /* zlib's default */
#define MAX_AT_ONCE  (1u << 20)       /* avail_in is an int */

struct gzip {
	z_stream stream;
	FILE *f;
	unsigned char out[1 << 16];
};

int gzip_new(struct gzip **ret, FILE *f, enum gzip_aim aim)
{
	_cleanup_free_ struct gzip *gzip = calloc(1, sizeof(*gzip));

	int level = aim == GZIP_FAST ? Z_BEST_SPEED : Z_DEFAULT_COMPRESSION;

	if (!gzip || deflateInit2(&gzip->stream, level, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
				  Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	gzip->f = f;
	*ret = TAKE_PTR(gzip);
	return 0;
}

struct gzip *gzip_free(struct gzip *gzip)
{
	if (!gzip)
		return NULL;
	deflateEnd(&gzip->stream);
	free(gzip);
	return NULL;
}

/* Until all input is used, and with Z_FINISH all output is written. */
static void deflate_all(struct gzip *gzip, int flush)
{
	do {
		gzip->stream.next_out = gzip->out;
		gzip->stream.avail_out = sizeof(gzip->out);
		deflate(&gzip->stream, flush);
		fwrite(gzip->out, 1, sizeof(gzip->out) - gzip->stream.avail_out, gzip->f);
	} while (gzip->stream.avail_out == 0);
}

void gzip_write(struct gzip *gzip, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	while (n > 0) {
		size_t part = MIN(n, (size_t)MAX_AT_ONCE);

		gzip->stream.next_in = (unsigned char *)at;
		gzip->stream.avail_in = (uInt)part;
		deflate_all(gzip, Z_NO_FLUSH);
		at += part;
		n -= part;
	}
}

void gzip_finish(struct gzip *gzip)
{
	deflate_all(gzip, Z_FINISH);
}
