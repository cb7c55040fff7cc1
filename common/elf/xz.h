/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decompresses .xz, by liblzma. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * *@ret is new memory with the *@ret_n decompressed bytes of @n packed ones. 0; -EBADMSG if the
 * data is damaged or exceeds @max bytes; or -ENOMEM.
 */
int xz_unpack(const uint8_t *packed, size_t n, size_t max, uint8_t **ret, size_t *ret_n);
