/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a row of a view of shares is called: the last columns of a table, and the first members of
 * JSON.
 */
#pragma once

#include <stdbool.h>

#include <jansson.h>

#include "client/render/table.h"
#include "client/view/place.h"
#include "client/view/shares.h"
#include "client/view/view.h"

/* Such a view has totals of its own where one row can be called by another. */
bool share_has_total(enum view_by by);

/* The columns of its names, and these of the last row, from number @column on. 0 or -ENOMEM. */
int share_name_add_columns(struct table *table, enum view_by by);
int share_name_set(struct table *table, size_t column, const struct profile *profile,
		   enum view_by by, const struct share_key *key);

/* A new object with its names; NULL for want of memory. */
json_t *share_name_json(const struct places *places, enum view_by by, const struct share_key *key);

/* In a sentence: "main", "main.c:12", "libc.so.6". A heap string, or NULL. */
char *share_name_format(const struct profile *profile, enum view_by by,
			const struct share_key *key);
