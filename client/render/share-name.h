/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names of a row of shares: the last columns of a table, and the first members of JSON.
 */
#pragma once

#include <stdbool.h>

#include <jansson.h>

#include "client/render/table.h"
#include "client/top/shares.h"
#include "client/view/place.h"
#include "client/view/view.h"

/* True for views whose totals differ from self: where one row can call another. */
bool share_has_total(enum view_by by);

/* Adds the columns of names; then sets those of the last row, from number @column on. 0 or -ENOMEM.
 */
int share_name_add_columns(struct table *table, enum view_by by);
int share_name_set(struct table *table, size_t column, const struct profile *profile,
		   enum view_by by, const struct share_key *key);

/* The same of a row that stands for all builds of its file. */
int share_name_set_paired(struct table *table, size_t column, const struct profile *profile,
			  enum view_by by, const struct share_key *key);

/* The same for one column that says whose a row is: see view_owned_shares(). */
int share_owner_add_column(struct table *table, enum view_by owner);
int share_owner_set(struct table *table, size_t column, const struct profile *profile,
		    enum view_by owner, const struct share_key *key);

/* A new object with the names, or NULL. */
json_t *share_name_json(const struct places *places, enum view_by by, const struct share_key *key);

/* For a sentence: "main", "main.c:12", "libc.so.6". A heap string, or NULL. */
char *share_name_format(const struct profile *profile, enum view_by by,
			const struct share_key *key);
