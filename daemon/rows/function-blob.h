/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What functions counted, as the bytes that the table function_counts keeps: schema.sql describes
 * them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/function-counts.h"
#include "daemon/database/intern.h"

/*
 * *@ret, for the caller to free, is @counts of a profile as *@ret_n bytes; the others are what the
 * rows of that profile are in the database. 0 or -ENOMEM.
 */
int function_blob_write(uint8_t **ret, size_t *ret_n, const struct function_counts *counts,
			const struct interned *processes, const struct interned *objects,
			const struct interned *names);
