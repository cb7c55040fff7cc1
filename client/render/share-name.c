/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/share-name.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/render/json.h"
#include "client/view/builds.h"
#include "client/view/user-name.h"
#include "common/profile/container.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"

#define UNKNOWN "[unknown]"

struct column {
	const char *name;
	unsigned int flags;
};

static const struct profile_object *object_of(const struct profile *profile,
					      const struct share_key *key)
{
	return key->object == PROFILE_NONE ? NULL : &profile->objects[key->object];
}

static const struct profile_process *process_of(const struct profile *profile,
						const struct share_key *key)
{
	return key->process == PROFILE_NONE ? NULL : &profile->processes[key->process];
}

/* Whether files of other folders have that name, and whether other builds have that path. */
static void find_others(const struct profile *profile, const struct profile_object *object,
			bool *ret_folders, bool *ret_builds)
{
	const char *name = place_object_name(object);

	*ret_folders = *ret_builds = false;
	for (size_t i = 0; i < profile->n_objects; i++) {
		const struct profile_object *other = &profile->objects[i];

		if (other == object || other->kind != OBJECT_FILE ||
		    strcmp(place_object_name(other), name) != 0)
			continue;
		if (strcmp(other->path, object->path) != 0)
			*ret_folders = true;
		else if (builds_differ(other, object))
			*ret_builds = true;
	}
}

/* The name; the path, or the name and the begin of the build-id, where others have that name, too.
 */
static int set_file(struct table *table, size_t column, const struct profile *profile,
		    const struct share_key *key, bool with_build)
{
	const struct profile_object *object = object_of(profile, key);
	char hex[BUILD_ID_HEX_SIZE];
	bool folders = false, builds = false;
	const char *name = place_object_name(object);

	if (object && object->kind == OBJECT_FILE)
		find_others(profile, object, &folders, &builds);
	if (folders)
		name = object->path;
	if (!builds || !with_build || object->n_build_id == 0)
		return table_set(table, column, name);
	return table_printf(table, column, "%s %s", name, build_format(hex, object));
}

static int set_function(struct table *table, size_t column, const struct profile *profile,
			const struct share_key *key)
{
	int r = set_file(table, column, profile, key, false);

	return r < 0 ? r : table_set(table, column + 1, key->symbol ?: UNKNOWN);
}

static int set_line(struct table *table, size_t column, const struct profile *profile,
		    const struct share_key *key)
{
	int r = set_file(table, column, profile, key, false);

	if (r < 0)
		return r;
	if (!key->file)
		return table_set(table, column + 1, UNKNOWN);
	return table_printf(table, column + 1, "%s:%" PRIu32, key->file, key->line);
}

static int set_object(struct table *table, size_t column, const struct profile *profile,
		      const struct share_key *key)
{
	const struct profile_object *object = object_of(profile, key);

	return table_set(table, column, object && object->path[0] ? object->path : UNKNOWN);
}

static int set_process(struct table *table, size_t column, const struct profile *profile,
		       const struct share_key *key)
{
	const struct profile_process *process = process_of(profile, key);
	int r;

	if (!process)
		return table_set(table, column + 1, UNKNOWN);
	if (process->n_gone > 0)
		r = table_printf(table, column, "%" PRIu64 " gone", process->n_gone);
	else
		r = table_printf(table, column, "%" PRId32, process->pid);
	if (r >= 0)
		r = table_set(table, column + 1, process->comm);
	if (r >= 0)
		r = table_set(table, column + 2, process->executable ?: "-");
	return r < 0 ? r : table_set(table, column + 3, process->unit ?: "-");
}

static int set_group(struct table *table, size_t column, const struct profile *profile,
		     const struct share_key *key)
{
	return table_set(table, column, key->group ?: "-");
}

/* The parts of "ENGINE/ID" or "ENGINE/ID/POD". */
struct container_text {
	const char *engine, *id, *pod;
	size_t n_engine, n_id;
};

static struct container_text split_container(const char *text)
{
	struct container_text parts = { .engine = text };

	if (!text)
		return parts;
	parts.n_engine = strcspn(text, "/");
	parts.id = text + parts.n_engine + 1;
	parts.n_id = strcspn(parts.id, "/");
	if (parts.id[parts.n_id] == '/')
		parts.pod = parts.id + parts.n_id + 1;
	return parts;
}

static int set_container(struct table *table, size_t column, const struct profile *profile,
			 const struct share_key *key)
{
	struct container_text parts = split_container(key->group);
	int r;

	if (!key->group)
		return table_set(table, column, "-");
	r = table_printf(table, column, "%.*s", (int)MIN(parts.n_id, (size_t)CONTAINER_SHORT_ID),
			 parts.id);
	if (r >= 0)
		r = table_printf(table, column + 1, "%.*s", (int)parts.n_engine, parts.engine);
	return r < 0 ? r : table_set(table, column + 2, parts.pod ?: "-");
}

static int set_user(struct table *table, size_t column, const struct profile *profile,
		    const struct share_key *key)
{
	_cleanup_free_ char *name = key->group ? user_name_find(key->group) : NULL;
	int r = table_set(table, column, name ?: key->group ?: "-");

	return r < 0 ? r : table_set(table, column + 1, key->group ?: "-");
}

/* Adds the object to the names in @row. */
static json_t *with_object(json_t *row, const struct places *places, const struct share_key *key)
{
	const struct profile_object *object = object_of(places->profile, key);

	json_object_set_new(row, "object",
			    json_text(object && object->path[0] ? object->path : NULL));
	json_object_set_new(row, "build_id", json_build_id(object));
	return row;
}

/* The function's start, its address or its offset in the file; with inlined calls a row stands for
 * all functions of one name. */
static json_t *json_start(const struct places *places, const struct share_key *key, bool is_offset)
{
	struct location start = { key->object, key->start };
	struct place place;

	if (!key->symbol || places->lines || places->numbered)
		return json_null();
	place = place_find(places, start);
	if (is_offset)
		return place_has_file_offset(&place) ? json_address(place.offset) : json_null();
	return place.has_address ? json_address(place.address) : json_null();
}

static json_t *json_function(const struct places *places, const struct share_key *key)
{
	return with_object(json_pack("{s:o, s:o, s:o}", "symbol", json_text(key->symbol), "address",
				     json_start(places, key, false), "file_offset",
				     json_start(places, key, true)),
			   places, key);
}

static json_t *json_source_line(const struct places *places, const struct share_key *key)
{
	return with_object(json_pack("{s:o}", "line", json_line(key->file, key->line)), places,
			   key);
}

static json_t *json_object_alone(const struct places *places, const struct share_key *key)
{
	return with_object(json_object(), places, key);
}

static json_t *json_process(const struct places *places, const struct share_key *key)
{
	const struct profile_process *process = process_of(places->profile, key);

	if (!process || (process->pid < 0 && process->n_gone == 0))
		return json_pack("{s:n, s:n, s:n, s:n, s:i}", "pid", "comm", "executable", "unit",
				 "gone", 0);
	return json_pack("{s:o, s:o, s:o, s:o, s:I}", "pid",
			 process->pid < 0 ? json_null() : json_integer(process->pid), "comm",
			 json_text(process->comm), "executable", json_text(process->executable),
			 "unit", json_text(process->unit), "gone", (json_int_t)process->n_gone);
}

static json_t *json_unit(const struct places *places, const struct share_key *key)
{
	return json_pack("{s:o}", "unit", json_text(key->group));
}

static json_t *json_comm(const struct places *places, const struct share_key *key)
{
	return json_pack("{s:o}", "comm", json_text(key->group));
}

static json_t *json_host(const struct places *places, const struct share_key *key)
{
	return json_pack("{s:o}", "host", json_text(key->group));
}

static json_t *json_container(const struct places *places, const struct share_key *key)
{
	struct container_text parts = split_container(key->group);

	if (!key->group)
		return json_pack("{s:n, s:n, s:n}", "container", "engine", "pod");
	return json_pack("{s:s%, s:s%, s:s?}", "container", parts.id, parts.n_id, "engine",
			 parts.engine, parts.n_engine, "pod", parts.pod);
}

static json_t *json_user(const struct places *places, const struct share_key *key)
{
	_cleanup_free_ char *name = key->group ? user_name_find(key->group) : NULL;

	return json_pack("{s:o, s:o}", "user", json_text(name), "uid",
			 key->group ? json_integer(strtoll(key->group, NULL, 10)) : json_null());
}

static const struct kind {
	struct column columns[4];
	int (*set)(struct table *table, size_t column, const struct profile *profile,
		   const struct share_key *key);
	json_t *(*json)(const struct places *places, const struct share_key *key);
	bool has_total;
} kinds[N_VIEWS] = {
	[VIEW_FUNCTION] = { { { "OBJECT", TABLE_ELIDE_NAME | TABLE_YIELD | TABLE_SPARE },
			      { "FUNCTION", TABLE_ELIDE_NAME } },
			    set_function,
			    json_function,
			    true },
	[VIEW_LINE] = { { { "OBJECT", TABLE_ELIDE_NAME | TABLE_YIELD | TABLE_SPARE },
			  { "LINE", TABLE_ELIDE_PATH } },
			set_line,
			json_source_line,
			true },
	[VIEW_OBJECT] = { { { "OBJECT", TABLE_ELIDE_PATH } }, set_object, json_object_alone, true },
	[VIEW_PROCESS] = { { { "PID", TABLE_RIGHT },
			     { "COMM", 0 },
			     { "EXECUTABLE", TABLE_ELIDE_PATH | TABLE_SPARE },
			     { "UNIT", TABLE_ELIDE_NAME | TABLE_SPARE } },
			   set_process,
			   json_process,
			   false },
	[VIEW_UNIT] = { { { "UNIT", TABLE_ELIDE_NAME } }, set_group, json_unit, false },
	[VIEW_COMM] = { { { "COMM", TABLE_ELIDE_NAME } }, set_group, json_comm, false },
	[VIEW_CONTAINER] = { { { "CONTAINER", 0 },
			       { "ENGINE", TABLE_SPARE },
			       { "POD", TABLE_ELIDE_NAME | TABLE_SPARE } },
			     set_container,
			     json_container,
			     false },
	[VIEW_USER] = { { { "USER", TABLE_ELIDE_NAME }, { "UID", TABLE_RIGHT | TABLE_SPARE } },
			set_user,
			json_user,
			false },
	[VIEW_HOST] = { { { "HOST", TABLE_ELIDE_NAME } }, set_group, json_host, false },
};

bool share_has_total(enum view_by by)
{
	return kinds[by].has_total;
}

int share_owner_add_column(struct table *table, enum view_by owner)
{
	static const char *const names[N_VIEWS] = {
		[VIEW_PROCESS] = "PROCESS",     [VIEW_COMM] = "COMM", [VIEW_UNIT] = "UNIT",
		[VIEW_CONTAINER] = "CONTAINER", [VIEW_USER] = "USER",
	};

	return table_add_column(table, names[owner], TABLE_ELIDE_NAME);
}

int share_owner_set(struct table *table, size_t column, const struct profile *profile,
		    enum view_by owner, const struct share_key *key)
{
	const struct profile_process *process = process_of(profile, key);
	_cleanup_free_ char *user =
		owner == VIEW_USER && key->group ? user_name_find(key->group) : NULL;
	struct container_text parts;

	if (owner == VIEW_PROCESS && process && process->pid < 0 && process->n_gone > 0)
		return table_printf(table, column, "%s, %" PRIu64 " gone", process->comm,
				    process->n_gone);
	if (owner == VIEW_PROCESS)
		return process ? table_printf(table, column, "%s %" PRId32, process->comm,
					      process->pid) :
				 table_set(table, column, UNKNOWN);
	if (owner != VIEW_CONTAINER || !key->group)
		return table_set(table, column, user ?: key->group ?: "-");
	parts = split_container(key->group);
	return table_printf(table, column, "%.*s", (int)MIN(parts.n_id, (size_t)CONTAINER_SHORT_ID),
			    parts.id);
}

int share_name_add_columns(struct table *table, enum view_by by)
{
	const struct column *columns = kinds[by].columns;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(kinds[by].columns) && columns[i].name; i++)
		r = table_add_column(table, columns[i].name, columns[i].flags);
	return r;
}

int share_name_set_paired(struct table *table, size_t column, const struct profile *profile,
			  enum view_by by, const struct share_key *key)
{
	return kinds[by].set(table, column, profile, key);
}

int share_name_set(struct table *table, size_t column, const struct profile *profile,
		   enum view_by by, const struct share_key *key)
{
	int r = share_name_set_paired(table, column, profile, by, key);

	return r >= 0 && (by == VIEW_FUNCTION || by == VIEW_LINE) ?
		       set_file(table, column, profile, key, true) :
		       r;
}

json_t *share_name_json(const struct places *places, enum view_by by, const struct share_key *key)
{
	return kinds[by].json(places, key);
}

char *share_name_format(const struct profile *profile, enum view_by by, const struct share_key *key)
{
	const struct profile_process *process = process_of(profile, key);
	char *text;

	switch (by) {
	case VIEW_FUNCTION:
		return strdup(key->symbol ?: place_object_name(object_of(profile, key)));
	case VIEW_LINE:
		if (key->file)
			return asprintf(&text, "%s:%" PRIu32, key->file, key->line) < 0 ? NULL :
											  text;
		return strdup(place_object_name(object_of(profile, key)));
	case VIEW_PROCESS:
		return strdup(process ? process->comm : UNKNOWN);
	case VIEW_UNIT:
		return strdup(key->group ?: "no unit");
	case VIEW_COMM:
		return strdup(key->group ?: UNKNOWN);
	case VIEW_CONTAINER:
		return strdup(key->group ?: "no container");
	case VIEW_USER:
		text = key->group ? user_name_find(key->group) : NULL;
		return text ?: strdup(key->group ?: UNKNOWN);
	default:
		return strdup(place_object_name(object_of(profile, key)));
	}
}
