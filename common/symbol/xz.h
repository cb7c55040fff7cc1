/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unpacking of .xz by liblzma, which libdw brings along. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * *@ret is new memory with the @ret_n bytes that @n packed ones stand for. 0, -EBADMSG where they
 * are damaged or stand for more than @max, or -ENOMEM.
 */
int xz_unpack(const uint8_t *packed, size_t n, size_t max, uint8_t **ret, size_t *ret_n);
