/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The writer and the reader of a profile's JSON share this header; no other file includes it. */
#pragma once

#include <stddef.h>

#define PROFILE_JSON_VERSION 7
/* It had no "restricted", "untrusted", "ctime_ns", "gone", "variance"; and counters come and go. */
#define PROFILE_JSON_OLDEST  3
#define N_COLUMNS_MAX        13

enum column_type {
	COLUMN_INDEX,  /* the number of a row, or null */
	COLUMN_OFFSET, /* "0x..." */
	COLUMN_COUNT,
};

struct column {
	const char *name;
	enum column_type type;
};

static const char *const object_kind_names[] = { "file", "kernel", "module", "vdso", "memory" };

/* The last column of a table, "variance", is written only where one of its rows has a variance. */
static const struct column stack_columns[] = {
	{ "parent", COLUMN_INDEX },  { "process", COLUMN_INDEX }, { "object", COLUMN_INDEX },
	{ "offset", COLUMN_OFFSET }, { "samples", COLUMN_COUNT }, { "stitched", COLUMN_COUNT },
	{ "weight", COLUMN_COUNT },  { "pruned", COLUMN_COUNT },  { "variance", COLUMN_COUNT },
};

static const struct column stream_columns[] = {
	{ "parent", COLUMN_INDEX },      { "process", COLUMN_INDEX },
	{ "from_object", COLUMN_INDEX }, { "from", COLUMN_OFFSET },
	{ "to_object", COLUMN_INDEX },   { "to", COLUMN_OFFSET },
	{ "hits", COLUMN_COUNT },        { "pruned", COLUMN_COUNT },
	{ "cycles", COLUMN_COUNT },      { "variance", COLUMN_COUNT },
};

static const struct column branch_columns[] = {
	{ "process", COLUMN_INDEX },   { "from_object", COLUMN_INDEX },
	{ "from", COLUMN_OFFSET },     { "to_object", COLUMN_INDEX },
	{ "to", COLUMN_OFFSET },       { "kind", COLUMN_COUNT },
	{ "taken", COLUMN_COUNT },     { "mispredicted", COLUMN_COUNT },
	{ "predicted", COLUMN_COUNT }, { "aborted", COLUMN_COUNT },
	{ "cycles", COLUMN_COUNT },    { "cycles_rows", COLUMN_COUNT },
	{ "variance", COLUMN_COUNT },
};

static const struct column block_columns[] = {
	{ "process", COLUMN_INDEX },     { "object", COLUMN_INDEX },   { "start", COLUMN_OFFSET },
	{ "end", COLUMN_OFFSET },        { "runs", COLUMN_COUNT },     { "cycles", COLUMN_COUNT },
	{ "cycles_rows", COLUMN_COUNT }, { "variance", COLUMN_COUNT },
};
