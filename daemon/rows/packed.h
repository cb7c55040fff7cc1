/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Bytes in the database that take less room: each a frame of zstd. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* *@ret, for the caller to free, are the @n bytes of @data, packed into *@ret_n. 0 or -ENOMEM. */
int packed_write(const void *data, size_t n, uint8_t **ret, size_t *ret_n);

/* The bytes that @data was made of; -EBADMSG if it is damaged, -ENOMEM. */
int packed_read(const void *data, size_t n, uint8_t **ret, size_t *ret_n);
