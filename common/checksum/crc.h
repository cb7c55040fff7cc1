/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* CRC-32, by zlib: it tells damage, not forgery. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The sum of what @crc is the sum of, 0 of nothing, and then of the @n bytes. */
uint32_t crc_add(uint32_t crc, const void *bytes, size_t n);
