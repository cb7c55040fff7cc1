/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Bytes of a file by offset, read on demand. Files are not mapped, so a
 * file that becomes shorter in the meantime does no harm.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Reads up to @n bytes at @offset. The number of bytes read; fewer than @n where the file ends. */
size_t bytes_read(int fd, uint64_t offset, void *ret, size_t n);
