/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/checksum/crc.h"

#include <zlib.h>

uint32_t crc_add(uint32_t crc, const void *bytes, size_t n)
{
	return n > 0 ? (uint32_t)crc32_z(crc, bytes, n) : crc;
}
