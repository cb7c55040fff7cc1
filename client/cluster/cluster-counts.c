/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows come sorted by object and function: what is new begins where a name differs. */
#include "client/cluster/cluster-counts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/filter.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

/* The cells of a row of names. */
enum name_cell {
	NAME_KEY,
	NAME_FIRST,  /* object, unit or host */
	NAME_SECOND, /* symbol, or nothing */
	NAME_BUILD,
};

/* The cells of a row of counts. */
enum cell {
	CELL_PART,
	CELL_KEY,
	CELL_SELF,
	CELL_TOTAL,
};

/* What a key means. */
struct name {
	uint64_t key;
	uint32_t place; /* PROFILE_NONE: not wanted */
};

struct reading {
	const struct cluster_counts_settings *settings;
	struct functions *functions;
	size_t cap_places;
	struct name *names; /* by key */
	size_t n_names, cap_names;
	const char *path; /* of the last object; borrowed from the answer */
	uint32_t object;
};

static enum object_kind kind_of(const char *path)
{
	size_t n = strlen(path);

	if (strcmp(path, "[kernel]") == 0)
		return OBJECT_KERNEL;
	if (strcmp(path, "[vdso]") == 0)
		return OBJECT_VDSO;
	if (strncmp(path, "perf-", 5) == 0 && n > 4 && strcmp(path + n - 4, ".map") == 0)
		return OBJECT_MEMORY;
	return *path == '[' ? OBJECT_MODULE : OBJECT_FILE;
}

/* Hexadecimal digits; of something else, none. */
static void set_build_id(struct profile_object *object, const char *hex)
{
	size_t n = strspn(hex, "0123456789abcdef");
	unsigned int byte;

	object->n_build_id = 0;
	if (hex[n] || n % 2 || n > 2 * sizeof(object->build_id))
		return;
	for (; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		object->build_id[object->n_build_id++] = (uint8_t)byte;
}

/* Of a path with several builds none is known. */
static void note_build(struct reading *reading, const char *hex)
{
	struct profile_object *object = &reading->functions->profile->objects[reading->object];
	struct profile_object other = {};

	set_build_id(&other, hex);
	if (other.n_build_id != object->n_build_id ||
	    memcmp(other.build_id, object->build_id, other.n_build_id) != 0)
		object->n_build_id = 0;
}

/* Names of one object follow each other. */
static int find_object(struct reading *reading, char *const *cells)
{
	struct profile_object object = { .kind = kind_of(cells[NAME_FIRST]),
					 .path = cells[NAME_FIRST] };
	int64_t at;

	if (reading->path && strcmp(reading->path, cells[NAME_FIRST]) == 0) {
		if (reading->object != PROFILE_NONE)
			note_build(reading, cells[NAME_BUILD]);
		return 0;
	}
	reading->path = cells[NAME_FIRST];
	reading->object = PROFILE_NONE;
	if (!*cells[NAME_FIRST])
		return 0;
	set_build_id(&object, cells[NAME_BUILD]);
	at = profile_add_object(reading->functions->profile, &object);
	if (at < 0)
		return (int)at;
	reading->object = (uint32_t)at;
	return 0;
}

static int set_function(struct reading *reading, struct functions_place *place, const char *name)
{
	struct profile *profile = reading->functions->profile;
	struct profile_function function = {
		.object = reading->object, .start = profile->n_functions, .size = 1, .name = name
	};
	int64_t at;

	place->object = reading->object;
	if (!*name || reading->object == PROFILE_NONE)
		return 0;
	at = profile_add_function(profile, &function);
	if (at < 0)
		return (int)at;
	place->function = (uint32_t)at;
	return 0;
}

static int set_owner(struct reading *reading, struct functions_place *place, const char *name)
{
	bool is_host = reading->settings->question->by == CLUSTER_BY_HOST;
	struct profile_process process = { .pid = -1,
					   .comm = is_host ? name : "",
					   .unit = !is_host && *name ? name : NULL,
					   .uid = UINT32_MAX };
	int64_t at = profile_add_process(reading->functions->profile, &process);

	if (at < 0)
		return (int)at;
	place->process = (uint32_t)at;
	return 0;
}

static bool is_wanted(const struct reading *reading, const struct functions_place *place)
{
	const struct cluster_counts_settings *settings = reading->settings;
	const struct profile *profile = reading->functions->profile;

	if (settings->object &&
	    (place->object == PROFILE_NONE ||
	     !profile_object_is_in(&profile->objects[place->object], settings->object)))
		return false;
	return !settings->symbol ||
	       (place->function != PROFILE_NONE &&
		profile_symbol_is_in(profile->functions[place->function].name, settings->symbol));
}

static int make_place(struct reading *reading, struct functions_place *place, char *const *cells)
{
	int r;

	*place = (struct functions_place){ PROFILE_NONE, PROFILE_NONE, PROFILE_NONE };
	if (reading->settings->question->by != CLUSTER_BY_FUNCTION)
		return set_owner(reading, place, cells[NAME_FIRST]);
	r = find_object(reading, cells);
	return r < 0 ? r : set_function(reading, place, cells[NAME_SECOND]);
}

static int add_name(struct reading *reading, char *const *cells)
{
	struct functions *functions = reading->functions;
	struct name name = { .place = PROFILE_NONE };
	struct functions_place place;
	int r;

	if (tsv_number(cells[NAME_KEY], &name.key) < 0)
		return -EBADMSG;
	r = make_place(reading, &place, cells);
	if (r >= 0 && is_wanted(reading, &place)) {
		name.place = (uint32_t)functions->n_places;
		r = ARRAY_RESERVE(&functions->places, &reading->cap_places,
				  functions->n_places + 1);
		if (r >= 0)
			functions->places[functions->n_places++] = place;
	}
	r = r < 0 ? r : ARRAY_RESERVE(&reading->names, &reading->cap_names, reading->n_names + 1);
	if (r >= 0)
		reading->names[reading->n_names++] = name;
	return r;
}

static int compare_names(const void *p, const void *q)
{
	const struct name *a = p, *b = q;

	return COMPARE(a->key, b->key);
}

static int read_names(struct reading *reading, struct tsv *rows)
{
	char *cells[CLUSTER_NAMES_CELLS];
	int more, r = 0;

	while (r >= 0 && (more = tsv_next(rows, cells, CLUSTER_NAMES_CELLS)) > 0)
		r = add_name(reading, cells);
	if (r < 0 || more < 0)
		return r < 0 ? r : more;
	if (reading->n_names > 0)
		qsort(reading->names, reading->n_names, sizeof(*reading->names), compare_names);
	return 0;
}

/* NULL: one that came in between. */
static const struct name *find_name(const struct reading *reading, uint64_t key)
{
	const struct name name = { .key = key };

	return reading->n_names > 0 ? bsearch(&name, reading->names, reading->n_names, sizeof(name),
					      compare_names) :
				      NULL;
}

/* -ENOENT: a host none of whose windows is there as a whole. */
static int64_t find_part(const struct reading *reading, const char *cell)
{
	uint64_t part = 0;

	switch (reading->settings->question->parts) {
	case CLUSTER_PART_HOST:
		return cluster_hosts_find(reading->settings->hosts, cell);
	case CLUSTER_PART_TIME:
		if (tsv_number(cell, &part) < 0 || part >= reading->functions->n_parts)
			return -EBADMSG;
		return (int64_t)part;
	default:
		return 0;
	}
}

static int add_row(struct reading *reading, char *const *cells)
{
	struct functions *functions = reading->functions;
	struct functions_row row = {};
	struct functions_part *part;
	const struct name *name;
	int64_t at = find_part(reading, cells[CELL_PART]);
	uint64_t key;
	int r;

	if (at < 0)
		return at == -ENOENT ? 0 : (int)at;
	if (tsv_number(cells[CELL_KEY], &key) < 0 || tsv_number(cells[CELL_SELF], &row.self) < 0 ||
	    tsv_number(cells[CELL_TOTAL], &row.total) < 0)
		return -EBADMSG;
	name = find_name(reading, key);
	if (!name)
		return 0;
	part = &functions->parts[at];
	part->samples += row.self;
	if (name->place == PROFILE_NONE)
		return 0;
	functions->profile->counters.samples += row.self;
	row.place = name->place;
	r = ARRAY_RESERVE(&part->rows, &part->cap_rows, part->n_rows + 1);
	if (r >= 0)
		part->rows[part->n_rows++] = row;
	return r;
}

static int read_rows(struct reading *reading, struct tsv *rows)
{
	char *cells[CLUSTER_COUNTS_CELLS];
	int more, r = 0;

	while (r >= 0 && (more = tsv_next(rows, cells, CLUSTER_COUNTS_CELLS)) > 0)
		r = add_row(reading, cells);
	return r < 0 ? r : more;
}

static int prepare(struct functions *functions, const struct cluster_counts_settings *settings)
{
	enum cluster_parts parts = settings->question->parts;

	functions->by = settings->question->by == CLUSTER_BY_FUNCTION ? FUNCTIONS_BY_FUNCTION :
									FUNCTIONS_BY_PROCESS;
	functions->are_numbered = true;
	functions->n_parts = parts == CLUSTER_PART_HOST ? settings->hosts->n :
			     parts == CLUSTER_PART_TIME ? settings->n_times :
							  1;
	functions->parts = calloc(functions->n_parts + 1, sizeof(*functions->parts));
	return functions->parts ? profile_new(&functions->profile) : -ENOMEM;
}

typedef int (*read_answer)(struct reading *reading, struct tsv *rows);

/* Frees @sql. */
static int ask(struct reading *reading, struct cluster *cluster, char *sql, read_answer read,
	       struct fault *fault)
{
	struct tsv rows;
	int r = sql ? cluster_ask(cluster, sql, &rows, fault) :
		      fault_set(fault, -ENOMEM, "out of memory");

	free(sql);
	if (r < 0)
		return r;
	r = read(reading, &rows);
	if (r == -EBADMSG)
		return cluster_refuse_answer(cluster, fault);
	return r < 0 ? fault_set(fault, r, "out of memory") : 0;
}

int cluster_counts_load(struct functions **ret, struct cluster *cluster,
			const struct cluster_counts_settings *settings, struct fault *fault)
{
	_cleanup_(functions_freep) struct functions *functions = calloc(1, sizeof(*functions));
	struct reading reading = { .settings = settings, .functions = functions };
	int r;

	if (!functions || prepare(functions, settings) < 0)
		return fault_set(fault, -ENOMEM, "out of memory");
	r = ask(&reading, cluster, cluster_sql_names(settings->question), read_names, fault);
	if (r >= 0)
		r = ask(&reading, cluster, cluster_sql_counts(settings->question), read_rows,
			fault);
	free(reading.names);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(functions);
	return 0;
}
