/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/parser/checksum.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "common/checksum/crc.h"
#include "common/util/cleanup.h"
#include "daemon/parser/bytes.h"

#define MAX_BYTES   (1L << 30)
#define PIECE_BYTES (1u << 20)

bool checksum_matches(int fd, uint32_t expected)
{
	_cleanup_free_ uint8_t *piece = malloc(PIECE_BYTES);
	uint32_t crc = 0;
	struct stat st;
	size_t n;

	if (!piece || fstat(fd, &st) < 0 || st.st_size > MAX_BYTES)
		return false;
	for (uint64_t at = 0; at < (uint64_t)st.st_size; at += n) {
		n = bytes_read(fd, at, piece, PIECE_BYTES);
		if (!n)
			return false;
		crc = crc_add(crc, piece, n);
	}
	return crc == expected;
}
