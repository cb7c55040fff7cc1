/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mappings, locations and functions of a profile for pprof and for OTLP.
 *
 * A profile knows offsets in files, not where these were mapped. So each object gets addresses of
 * its own, as if it had been mapped from a common start on, one object behind another; by the
 * mapping a reader converts them back. The kernel and code without a file keep their addresses.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "client/export/protobuf.h"
#include "client/export/string-table.h"
#include "client/export/writers.h"
#include "client/view/tree-merge.h"

/* What the formats differ in. */
struct place_tables_format {
	unsigned int mappings, locations, functions; /* the fields of the tables' rows */
	/* A row's first field is its number. Else its place is, where row 0 is for none, and all
	 * its fields have the number before that of pprof. */
	bool has_ids;
	/* Adds what only this format has of a mapping or a location; NULL: nothing. -ENOMEM. */
	int (*add_to_mapping)(struct protobuf *mapping, const struct profile_object *object,
			      bool has_functions, void *userdata);
	int (*add_to_location)(struct protobuf *location, const struct profile_object *object,
			       void *userdata); /* NULL: of no object */
	/* Takes a row with its field. -ENOMEM. */
	int (*put)(const struct protobuf *field, void *userdata);
};

struct place_tables {
	const struct place_tables_format *format;
	void *userdata; /* of its functions */
	const struct export_input *input;
	struct string_table *strings;

	struct location *rows; /* the location of number i + 1 */
	size_t n, cap;
	struct tree_merge merge, functions;
	struct place_mapping *mappings; /* by object */
	struct protobuf message, line;
};

/* All but the first four members are zero. 0 or -ENOMEM; call place_tables_done() in either case.
 * Borrows all. */
int place_tables_init(struct place_tables *tables);
void place_tables_done(struct place_tables *tables);

/* The number of a frame's location, from 1 on; without ids 0 if it is nowhere. -ENOMEM. */
int64_t place_tables_find(struct place_tables *tables, struct location frame);

/* Writes the rows. 0 or -ENOMEM. */
int place_tables_write(struct place_tables *tables);
