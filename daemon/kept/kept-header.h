/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What each kept file begins with: what it is of, and a checksum. A file is of one machine and one
 * version of branchd, because another version may make something else of the same object.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "common/object/build-id.h"

struct kept_header {
	char magic[8];
	char version[20];
	uint32_t format;
	uint32_t crc; /* of all that follows */
	uint8_t n_build_id;
	uint8_t build_id[sizeof(((struct build_id *)NULL)->bytes)];
	uint8_t unused[3];
};

/* A kind of file. */
struct kept_format {
	char magic[sizeof(((struct kept_header *)NULL)->magic) + 1];
	uint32_t number; /* raised when the content changes */
};

void kept_header_fill(struct kept_header *ret, const struct kept_format *format,
		      const struct build_id *id);

/*
 * Sets the checksum of the header, with which the first of the parts begins, and writes all @n of
 * them. 0 or -errno.
 */
int kept_header_write(int fd, const struct iovec *parts, size_t n);

/*
 * Whether the @n bytes, which are at least those of a header, are a whole file of that kind and
 * object: 0; -EBADMSG; -ESTALE if another version wrote them.
 */
int kept_header_check(const struct kept_header *header, size_t n, const struct kept_format *format,
		      const struct build_id *id);
