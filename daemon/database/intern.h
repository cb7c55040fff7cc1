/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What windows refer to, kept once: finds the row that is the same, or adds one, and keeps its
 * "seen" as schema.sql promises: at the window's horizon or above, and not above that of what it
 * refers to.
 *
 * What was asked for lately is remembered, so that a window like the one before is hardly any work
 * for the database.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "daemon/database/bulk.h"
#include "daemon/database/database.h"
#include "daemon/database/recent-ids.h"

enum interned_kind {
	INTERNED_STRING,
	INTERNED_SOURCE,
	INTERNED_PROCESS,
	INTERNED_OBJECT,
	INTERNED_FUNCTION,
	INTERNED_PLACE, /* from here on keys are numbers, and rows are added many at a time */
	INTERNED_STACK,
	INTERNED_STREAM,
	N_INTERNED_KINDS,
};

#define N_REMEMBERED_KINDS (N_INTERNED_KINDS - INTERNED_PLACE)

struct interned {
	int64_t id, seen;
	bool added; /* in this window, as was all that refers to it */
};

/* The row 0: none. */
#define INTERNED_NONE ((struct interned){ 0, INT64_MAX, false })

/* Of one kind: what is remembered, and the rows that wait to be added. */
struct remembered {
	struct recent_ids recent;
	struct bulk added;
	int64_t next_id;
	unsigned int n_generations; /* of @recent, begun in this window because one was full */
};

struct store_intern {
	struct database *database;
	struct statement *find[N_INTERNED_KINDS], *add[INTERNED_PLACE], *renew[N_INTERNED_KINDS];
	struct remembered remembered[N_REMEMBERED_KINDS];
	struct recent_ids functions; /* those that are remembered */
	int64_t window, horizon;
	bool adds_none;     /* only finds */
	bool is_new_window; /* neither written before, nor a sum */
	bool removed; /* some of what is remembered, of times before the next window's horizon */
	int64_t largest[N_INTERNED_KINDS]; /* ids, from objects on */
};

/* 0 or -errno; in any case store_intern_done() is due. */
int store_intern_init(struct store_intern *intern, struct database *database);
void store_intern_done(struct store_intern *intern);

/* What follows is for this window, in one transaction: 0 or -errno, as of finishing it. */
int store_intern_begin(struct store_intern *intern, int64_t window, int64_t horizon);
int store_intern_finish(struct store_intern *intern);
/*
 * The same for a window that has been written before, all of whose rows must be there: where one is
 * not, -ENOENT.
 */
int store_intern_begin_again(struct store_intern *intern, int64_t window, int64_t horizon);
/*
 * The same for a sum of windows: @horizon is that of the first, and what it adds is of the time of
 * @newest.
 */
int store_intern_begin_sum(struct store_intern *intern, int64_t newest, int64_t horizon);
/* The same for a window that gets this horizon, all of whose rows must be there, or -ENOENT. */
int store_intern_begin_renewal(struct store_intern *intern, int64_t newest, int64_t horizon);
/* Rows were removed that are below the horizon of all windows to come. */
void store_intern_note_removed(struct store_intern *intern);
/* To be called when rows were removed, and those added were not after all. */
void store_intern_forget(struct store_intern *intern);

/* Each 0 or -errno. */
int store_intern_source(struct store_intern *intern, const struct profile_info *info,
			struct interned *ret);
int store_intern_process(struct store_intern *intern, const struct profile_process *process,
			 struct interned *ret);
int store_intern_object(struct store_intern *intern, const struct profile_object *object,
			struct interned *ret);
int store_intern_function(struct store_intern *intern, struct interned object,
			  const struct profile_function *function, struct interned *ret);
int store_intern_place(struct store_intern *intern, struct interned object, uint64_t offset,
		       struct interned function, struct interned *ret);
int store_intern_stack(struct store_intern *intern, struct interned parent, struct interned place,
		       struct interned *ret);
int store_intern_stream(struct store_intern *intern, struct interned parent, struct interned origin,
			struct interned target, struct interned *ret);
