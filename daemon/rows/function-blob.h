/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What functions counted, as the bytes that the table function_counts keeps: schema.sql describes
 * them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/function-counts.h"
#include "daemon/database/intern.h"

/* Both columns. */
struct function_blob {
	uint8_t *counts, *processes;
	size_t n_counts, n_processes; /* bytes */
	bool has_variances;           /* the totals of functions are followed by theirs */
};

/*
 * Makes *@ret of @counts of a profile; the others are what the rows of that profile are in the
 * database. 0 or -ENOMEM; call function_blob_done() in either case.
 */
int function_blob_write(struct function_blob *ret, const struct function_counts *counts,
			const struct interned *processes, const struct interned *objects,
			const struct interned *names);
void function_blob_done(struct function_blob *blob);

/* What is left of such bytes. */
struct function_bytes {
	const uint8_t *data;
	size_t n;
	bool damaged; /* a number was cut off */
};

/* The next number; 0 where there is none. */
static inline uint64_t function_bytes_take(struct function_bytes *bytes)
{
	uint64_t number = 0;

	for (unsigned int shift = 0; bytes->n > 0 && shift < 64; shift += 7) {
		uint8_t byte = *bytes->data++;

		bytes->n--;
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return number;
	}
	bytes->damaged = true;
	return 0;
}
