/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/store-intern.h"

#include <errno.h>

#include "common/util/macro.h"

#define MAX_REMEMBERED 32768u /* of each kind; some 3 MiB */

/* The parameters of find and add are the same, in the same order; add has one more, "seen". */
static const char *const find_sql[N_INTERNED_KINDS] = {
	[INTERNED_STRING] = "SELECT id, seen FROM string WHERE text = ? AND id > 0",
	[INTERNED_SOURCE] = "SELECT id, seen FROM source WHERE mode = ? AND event = ? AND "
			    "hostname = ? AND os_release = ? AND cpu = ? AND n_cpus = ? AND "
			    "depth = ?",
	[INTERNED_PROCESS] = "SELECT id, seen FROM process WHERE pid = ? AND start_ns = ? AND "
			     "comm = ? AND executable = ? AND unit = ? AND uid IS ? AND id > 0",
	[INTERNED_OBJECT] = "SELECT id, seen FROM object WHERE kind = ? AND major = ? AND "
			    "minor = ? AND inode = ? AND base = ? AND path = ? AND build_id = ? "
			    "AND id > 0",
	[INTERNED_FUNCTION] = "SELECT id, seen FROM function WHERE object = ? AND start = ? AND "
			      "size = ? AND fingerprint = ? AND name = ? AND id > 0",
	[INTERNED_PLACE] = "SELECT id, seen FROM place WHERE object = ? AND offset = ? AND "
			   "function = ? AND id > 0",
	[INTERNED_STACK] = "SELECT id, seen FROM stack WHERE parent = ? AND place = ? AND id > 0",
};

static const char *const add_sql[N_INTERNED_KINDS] = {
	[INTERNED_STRING] = "INSERT INTO string (text, seen) VALUES (?, ?)",
	[INTERNED_SOURCE] = "INSERT INTO source (mode, event, hostname, os_release, cpu, n_cpus, "
			    "depth, seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
	[INTERNED_PROCESS] = "INSERT INTO process (pid, start_ns, comm, executable, unit, uid, "
			     "seen) VALUES (?, ?, ?, ?, ?, ?, ?)",
	[INTERNED_OBJECT] = "INSERT INTO object (kind, major, minor, inode, base, path, build_id, "
			    "seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
	[INTERNED_FUNCTION] = "INSERT INTO function (object, start, size, fingerprint, name, "
			      "seen) VALUES (?, ?, ?, ?, ?, ?)",
	[INTERNED_PLACE] = "INSERT INTO place (object, offset, function, seen) "
			   "VALUES (?, ?, ?, ?)",
	[INTERNED_STACK] = "INSERT INTO stack (parent, place, seen) VALUES (?, ?, ?)",
};

static const char *const renew_sql[N_INTERNED_KINDS] = {
	[INTERNED_STRING] = "UPDATE string SET seen = ? WHERE id = ?",
	[INTERNED_SOURCE] = "UPDATE source SET seen = ? WHERE id = ?",
	[INTERNED_PROCESS] = "UPDATE process SET seen = ? WHERE id = ?",
	[INTERNED_OBJECT] = "UPDATE object SET seen = ? WHERE id = ?",
	[INTERNED_FUNCTION] = "UPDATE function SET seen = ? WHERE id = ?",
	[INTERNED_PLACE] = "UPDATE place SET seen = ? WHERE id = ?",
	[INTERNED_STACK] = "UPDATE stack SET seen = ? WHERE id = ?",
};

/* The place of "seen" among the parameters of add. */
static const int seen_parameter[N_INTERNED_KINDS] = {
	[INTERNED_STRING] = 2, [INTERNED_SOURCE] = 8,   [INTERNED_PROCESS] = 7,
	[INTERNED_OBJECT] = 8, [INTERNED_FUNCTION] = 6, [INTERNED_PLACE] = 4,
	[INTERNED_STACK] = 3,
};

int store_intern_init(struct store_intern *intern, struct database *database)
{
	int r;

	*intern = (struct store_intern){ .database = database };
	r = database_prepare(database, find_sql, N_INTERNED_KINDS, intern->find);
	if (r >= 0)
		r = database_prepare(database, add_sql, N_INTERNED_KINDS, intern->add);
	if (r >= 0)
		r = database_prepare(database, renew_sql, N_INTERNED_KINDS, intern->renew);
	return r;
}

void store_intern_done(struct store_intern *intern)
{
	id_map_done(&intern->places);
	id_map_done(&intern->stacks);
}

void store_intern_forget(struct store_intern *intern)
{
	id_map_clear(&intern->places);
	id_map_clear(&intern->stacks);
}

void store_intern_begin(struct store_intern *intern, int64_t window, int64_t horizon)
{
	intern->window = window;
	intern->horizon = horizon;
	if (intern->places.n > MAX_REMEMBERED)
		id_map_clear(&intern->places);
	if (intern->stacks.n > MAX_REMEMBERED)
		id_map_clear(&intern->stacks);
}

/* Brings "seen" up to @seen, where the horizon has passed it. */
static int renew(struct store_intern *intern, enum interned_kind kind, int64_t seen,
		 struct interned *row)
{
	if (row->seen >= intern->horizon)
		return 0;
	row->seen = seen;
	STATEMENT_BIND(intern->renew[kind], row->seen, row->id);
	return statement_run(intern->renew[kind]);
}

/*
 * Finds or adds the row that the parameters of both statements are bound to. @seen is the least of
 * what the row refers to.
 */
static int intern_row(struct store_intern *intern, enum interned_kind kind, int64_t seen,
		      struct interned *ret)
{
	struct statement *find = intern->find[kind], *add = intern->add[kind];
	int r;

	seen = MIN(seen, intern->window);
	r = statement_step(find);
	if (r < 0)
		return r;
	if (r > 0) {
		*ret = (struct interned){ statement_int(find, 0), statement_int(find, 1) };
		r = statement_reset(find);
		return r < 0 ? r : renew(intern, kind, seen, ret);
	}
	statement_bind_int(add, seen_parameter[kind], seen);
	r = statement_run(add);
	if (r < 0)
		return r;
	*ret = (struct interned){ database_last_id(intern->database), seen };
	return 0;
}

/* Of both statements of @kind, parameter @i. */
static void bind_int(struct store_intern *intern, enum interned_kind kind, int i, int64_t value)
{
	statement_bind_int(intern->find[kind], i, value);
	statement_bind_int(intern->add[kind], i, value);
}

static void bind_text(struct store_intern *intern, enum interned_kind kind, int i, const char *text)
{
	statement_bind_text(intern->find[kind], i, text);
	statement_bind_text(intern->add[kind], i, text);
}

static int intern_string(struct store_intern *intern, const char *text, struct interned *ret)
{
	if (!text) {
		*ret = INTERNED_NONE;
		return 0;
	}
	bind_text(intern, INTERNED_STRING, 1, text);
	return intern_row(intern, INTERNED_STRING, INT64_MAX, ret);
}

/* Binds the numbers of @n strings, from parameter @first on; *@seen is lowered to theirs. */
static int bind_strings(struct store_intern *intern, enum interned_kind kind, int first,
			const char *const *strings, int n, int64_t *seen)
{
	struct interned string;
	int r;

	for (int i = 0; i < n; i++) {
		r = intern_string(intern, strings[i], &string);
		if (r < 0)
			return r;
		bind_int(intern, kind, first + i, string.id);
		*seen = MIN(*seen, string.seen);
	}
	return 0;
}

int store_intern_source(struct store_intern *intern, const struct profile_info *info,
			struct interned *ret)
{
	const char *const strings[] = { info->mode, info->event, info->hostname, info->os_release,
					info->cpu };
	int64_t seen = INT64_MAX;
	int r;

	r = bind_strings(intern, INTERNED_SOURCE, 1, strings, ARRAY_SIZE(strings), &seen);
	if (r < 0)
		return r;
	bind_int(intern, INTERNED_SOURCE, 6, info->n_cpus);
	bind_int(intern, INTERNED_SOURCE, 7, info->depth);
	return intern_row(intern, INTERNED_SOURCE, seen, ret);
}

int store_intern_process(struct store_intern *intern, const struct profile_process *process,
			 struct interned *ret)
{
	const char *const strings[] = { process->comm, process->executable, process->unit };
	int64_t seen = INT64_MAX;
	int r;

	r = bind_strings(intern, INTERNED_PROCESS, 3, strings, ARRAY_SIZE(strings), &seen);
	if (r < 0)
		return r;
	bind_int(intern, INTERNED_PROCESS, 1, process->pid);
	bind_int(intern, INTERNED_PROCESS, 2, process->start_ns);
	bind_int(intern, INTERNED_PROCESS, 6, process->uid);
	if (process->uid == UINT32_MAX) {
		statement_bind_null(intern->find[INTERNED_PROCESS], 6);
		statement_bind_null(intern->add[INTERNED_PROCESS], 6);
	}
	return intern_row(intern, INTERNED_PROCESS, seen, ret);
}

int store_intern_object(struct store_intern *intern, const struct profile_object *object,
			struct interned *ret)
{
	const int64_t numbers[] = { object->kind, object->major, object->minor, object->inode,
				    object->base };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		bind_int(intern, INTERNED_OBJECT, (int)i + 1, numbers[i]);
	bind_text(intern, INTERNED_OBJECT, 6, object->path);
	statement_bind_blob(intern->find[INTERNED_OBJECT], 7, object->build_id, object->n_build_id);
	statement_bind_blob(intern->add[INTERNED_OBJECT], 7, object->build_id, object->n_build_id);
	return intern_row(intern, INTERNED_OBJECT, INT64_MAX, ret);
}

int store_intern_function(struct store_intern *intern, struct interned object,
			  const struct profile_function *function, struct interned *ret)
{
	const int64_t numbers[] = { object.id, function->start, function->size,
				    function->fingerprint };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		bind_int(intern, INTERNED_FUNCTION, (int)i + 1, numbers[i]);
	bind_text(intern, INTERNED_FUNCTION, 5, function->name);
	return intern_row(intern, INTERNED_FUNCTION, object.seen, ret);
}

/* Of a row whose key is numbers: remembered, or as intern_row(). */
static int intern_remembered(struct store_intern *intern, enum interned_kind kind,
			     struct id_map *map, struct id_key key, int64_t seen,
			     struct interned *ret)
{
	const struct id_value *known = id_map_find(map, key);
	int n_keys = seen_parameter[kind] - 1, r;

	if (known && known->more >= intern->horizon) {
		*ret = (struct interned){ known->id, known->more };
		return 0;
	}
	bind_int(intern, kind, 1, key.a);
	bind_int(intern, kind, 2, key.b);
	if (n_keys > 2)
		bind_int(intern, kind, 3, key.c);
	r = intern_row(intern, kind, seen, ret);
	return r < 0 ? r : id_map_put(map, key, (struct id_value){ ret->id, ret->seen });
}

int store_intern_place(struct store_intern *intern, struct interned object, uint64_t offset,
		       struct interned function, struct interned *ret)
{
	struct id_key key = { object.id, (int64_t)offset, function.id };

	return intern_remembered(intern, INTERNED_PLACE, &intern->places, key,
				 MIN(object.seen, function.seen), ret);
}

int store_intern_stack(struct store_intern *intern, struct interned parent, struct interned place,
		       struct interned *ret)
{
	struct id_key key = { parent.id, place.id, 0 };

	return intern_remembered(intern, INTERNED_STACK, &intern->stacks, key,
				 MIN(parent.seen, place.seen), ret);
}
