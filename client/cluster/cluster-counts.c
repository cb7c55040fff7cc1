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

/* The cells of a row. */
enum cell {
	CELL_PART,
	CELL_FIRST,  /* object, unit or host */
	CELL_SECOND, /* symbol, or nothing */
	CELL_BUILD,
	CELL_SELF,
	CELL_TOTAL,
};

struct reading {
	const struct cluster_counts_settings *settings;
	struct functions *functions;
	size_t cap_places;
	char *names[2]; /* of the last place; borrowed from the answer */
	bool is_wanted; /* that place */
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
	unsigned int byte;

	object->n_build_id = 0;
	if (strlen(hex) > 2 * sizeof(object->build_id) || strspn(hex, "0123456789abcdef") % 2)
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

static int find_object(struct reading *reading, char *const *cells)
{
	struct profile_object object = { .kind = kind_of(cells[CELL_FIRST]),
					 .path = cells[CELL_FIRST] };
	int64_t at;

	if (reading->names[0] && strcmp(reading->names[0], cells[CELL_FIRST]) == 0) {
		if (reading->object != PROFILE_NONE)
			note_build(reading, cells[CELL_BUILD]);
		return 0;
	}
	reading->object = PROFILE_NONE;
	if (!*cells[CELL_FIRST])
		return 0;
	set_build_id(&object, cells[CELL_BUILD]);
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

/* The place of the row is that of the row before, or a new one. */
static int find_place(struct reading *reading, char *const *cells)
{
	struct functions *functions = reading->functions;
	struct functions_place place = { PROFILE_NONE, PROFILE_NONE, PROFILE_NONE };
	bool by_function = reading->settings->question->by == CLUSTER_BY_FUNCTION;
	int r = by_function ? find_object(reading, cells) : 0;

	if (r < 0 || (reading->names[0] && strcmp(reading->names[0], cells[CELL_FIRST]) == 0 &&
		      strcmp(reading->names[1], cells[CELL_SECOND]) == 0))
		return r;
	reading->names[0] = cells[CELL_FIRST];
	reading->names[1] = cells[CELL_SECOND];
	r = by_function ? set_function(reading, &place, cells[CELL_SECOND]) :
			  set_owner(reading, &place, cells[CELL_FIRST]);
	if (r < 0)
		return r;
	reading->is_wanted = is_wanted(reading, &place);
	if (!reading->is_wanted)
		return 0;
	r = ARRAY_RESERVE(&functions->places, &reading->cap_places, functions->n_places + 1);
	if (r >= 0)
		functions->places[functions->n_places++] = place;
	return r;
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
	int64_t at = find_part(reading, cells[CELL_PART]);
	int r;

	if (at < 0)
		return at == -ENOENT ? 0 : (int)at;
	if (tsv_number(cells[CELL_SELF], &row.self) < 0 ||
	    tsv_number(cells[CELL_TOTAL], &row.total) < 0)
		return -EBADMSG;
	part = &functions->parts[at];
	part->samples += row.self;
	if (!reading->is_wanted)
		return 0;
	functions->profile->counters.samples += row.self;
	row.place = functions->n_places - 1;
	r = ARRAY_RESERVE(&part->rows, &part->cap_rows, part->n_rows + 1);
	if (r >= 0)
		part->rows[part->n_rows++] = row;
	return r;
}

static int read_rows(struct reading *reading, struct tsv *rows)
{
	char *cells[CLUSTER_COUNTS_CELLS];
	int more, r = 0;

	while (r >= 0 && (more = tsv_next(rows, cells, CLUSTER_COUNTS_CELLS)) > 0) {
		r = find_place(reading, cells);
		r = r < 0 ? r : add_row(reading, cells);
	}
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

int cluster_counts_load(struct functions **ret, struct cluster *cluster,
			const struct cluster_counts_settings *settings, struct fault *fault)
{
	_cleanup_(functions_freep) struct functions *functions = calloc(1, sizeof(*functions));
	_cleanup_free_ char *sql = cluster_sql_counts(settings->question);
	struct reading reading = { .settings = settings, .functions = functions };
	struct tsv rows;
	int r;

	if (!functions || !sql || prepare(functions, settings) < 0)
		return fault_set(fault, -ENOMEM, "out of memory");
	r = cluster_ask(cluster, sql, &rows, fault);
	if (r < 0)
		return r;
	r = read_rows(&reading, &rows);
	if (r == -EBADMSG)
		return cluster_refuse_answer(cluster, fault);
	if (r < 0)
		return fault_set(fault, r, "out of memory");
	*ret = TAKE_PTR(functions);
	return 0;
}
