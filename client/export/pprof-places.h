/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The mappings, locations and functions of a profile for pprof.
 *
 * A profile knows offsets in files, not where these were mapped. So each object gets addresses of
 * its own, as if it had been mapped from a common start on, one object behind another; by the
 * mapping pprof converts them back. The kernel and code without a file keep their addresses.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "client/export/gzip.h"
#include "client/export/protobuf.h"
#include "client/export/string-table.h"
#include "client/export/writers.h"
#include "client/view/tree-merge.h"

struct pprof_places {
	const struct export_input *input;
	struct string_table *strings;
	struct gzip *gzip;

	struct location *rows; /* the location of id i + 1 */
	size_t n, cap;
	struct tree_merge merge, functions;
	struct pprof_mapping *mappings; /* by object */
	struct protobuf message, line;
};

/* 0 or -ENOMEM; call pprof_places_done() in either case. Borrows all. */
int pprof_places_init(struct pprof_places *places, const struct export_input *input,
		      struct string_table *strings, struct gzip *gzip);
void pprof_places_done(struct pprof_places *places);

/* The id of a frame's location; -ENOMEM. */
int64_t pprof_places_find(struct pprof_places *places, struct location frame);

/* Writes the tables. 0 or -ENOMEM. */
int pprof_places_write(struct pprof_places *places);
