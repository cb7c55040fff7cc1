/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The hash FNV-1a of 64 bits (Fowler, Noll, Vo): http://www.isthe.com/chongo/tech/comp/fnv/ */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FNV_BASIS UINT64_C(0xcbf29ce484222325)

/* The hash of what was hashed to @hash, at first FNV_BASIS, and then @n bytes. */
static inline uint64_t fnv_add(uint64_t hash, const void *bytes, size_t n)
{
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* The bytes of a number, the lowest first. */
static inline uint64_t fnv_add_number(uint64_t hash, uint64_t number)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(number >> (8 * i));
	return fnv_add(hash, bytes, sizeof(bytes));
}

/* With its NUL, so that two texts are not one. */
static inline uint64_t fnv_add_text(uint64_t hash, const char *text)
{
	return fnv_add(hash, text, strlen(text) + 1);
}
