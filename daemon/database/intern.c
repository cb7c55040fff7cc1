/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/database/intern.h"

#include <errno.h>
#include <string.h>

#include "common/util/fnv.h"
#include "common/util/macro.h"

#define MAX_ID (INT64_MAX / 2) /* no row has a larger one: they are counted up */

/* In each of two generations, of each kind: two thirds of 2^16 slots of a hash table, 2.2 MiB. */
#define MAX_REMEMBERED 43690u
#define MAX_FUNCTIONS  10922u /* the same, of 2^14; 0.5 MiB */

/* The parameters of find and add are the same, in the same order; add has one more, "seen". */
static const char *const find_sql[N_INTERNED_KINDS] = {
	[INTERNED_STRING] = "SELECT id, seen FROM string WHERE text = ? AND id > 0",
	[INTERNED_SOURCE] = "SELECT id, seen FROM source WHERE mode = ? AND event = ? AND "
			    "hostname = ? AND os_release = ? AND cpu = ? AND n_cpus = ? AND "
			    "depth = ?",
	[INTERNED_PROCESS] = "SELECT id, seen FROM process WHERE pid = ? AND start_ns = ? AND "
			     "comm = ? AND executable = ? AND unit = ? AND uid IS ? AND "
			     "restricted = ? AND id > 0",
	[INTERNED_OBJECT] = "SELECT id, seen FROM object WHERE kind = ? AND major = ? AND "
			    "minor = ? AND inode = ? AND base = ? AND path = ? AND build_id = ? "
			    "AND untrusted = ? AND ctime_ns = ? AND id > 0",
	[INTERNED_FUNCTION] = "SELECT id, seen FROM function WHERE object = ? AND start = ? AND "
			      "size = ? AND fingerprint = ? AND name = ? AND id > 0",
	[INTERNED_PLACE] = "SELECT id, seen FROM place WHERE object = ? AND offset = ? AND "
			   "function = ? AND id > 0",
	[INTERNED_STACK] = "SELECT id, seen FROM stack WHERE parent = ? AND place = ? AND id > 0",
	[INTERNED_STREAM] = "SELECT id, seen FROM stream WHERE parent = ? AND origin = ? AND "
			    "target = ? AND id > 0",
};

static const char *const add_sql[INTERNED_PLACE] = {
	[INTERNED_STRING] = "INSERT INTO string (text, seen) VALUES (?, ?)",
	[INTERNED_SOURCE] = "INSERT INTO source (mode, event, hostname, os_release, cpu, n_cpus, "
			    "depth, seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
	[INTERNED_PROCESS] = "INSERT INTO process (pid, start_ns, comm, executable, unit, uid, "
			     "restricted, seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
	[INTERNED_OBJECT] = "INSERT INTO object (kind, major, minor, inode, base, path, build_id, "
			    "untrusted, ctime_ns, seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	[INTERNED_FUNCTION] = "INSERT INTO function (object, start, size, fingerprint, name, "
			      "seen) VALUES (?, ?, ?, ?, ?, ?)",
};

static const struct {
	const char *sql[2], *last_id;
	int n_keys;
} remembered_kinds[N_REMEMBERED_KINDS] = {
	{
		BULK_SQL("INSERT INTO place (object, offset, function, seen)", "(?, ?, ?, ?)"),
		"SELECT max(id) FROM place",
		3,
	},
	{
		BULK_SQL("INSERT INTO stack (parent, place, seen)", "(?, ?, ?)"),
		"SELECT max(id) FROM stack",
		2,
	},
	{
		BULK_SQL("INSERT INTO stream (parent, origin, target, seen)", "(?, ?, ?, ?)"),
		"SELECT max(id) FROM stream",
		3,
	},
};

static const char *const renew_sql[N_INTERNED_KINDS] = {
	[INTERNED_STRING] = "UPDATE string SET seen = ? WHERE id = ?",
	[INTERNED_SOURCE] = "UPDATE source SET seen = ? WHERE id = ?",
	[INTERNED_PROCESS] = "UPDATE process SET seen = ? WHERE id = ?",
	[INTERNED_OBJECT] = "UPDATE object SET seen = ? WHERE id = ?",
	[INTERNED_FUNCTION] = "UPDATE function SET seen = ? WHERE id = ?",
	[INTERNED_PLACE] = "UPDATE place SET seen = ? WHERE id = ?",
	[INTERNED_STACK] = "UPDATE stack SET seen = ? WHERE id = ?",
	[INTERNED_STREAM] = "UPDATE stream SET seen = ? WHERE id = ?",
};

/* The place of "seen" among the parameters of add. */
static const int seen_parameter[INTERNED_PLACE] = {
	[INTERNED_STRING] = 2,  [INTERNED_SOURCE] = 8,   [INTERNED_PROCESS] = 8,
	[INTERNED_OBJECT] = 10, [INTERNED_FUNCTION] = 6,
};

int store_intern_init(struct store_intern *intern, struct database *database)
{
	int r;

	*intern = (struct store_intern){ .database = database, .functions.max = MAX_FUNCTIONS };
	r = database_prepare(database, find_sql, N_INTERNED_KINDS, intern->find);
	if (r >= 0)
		r = database_prepare(database, add_sql, INTERNED_PLACE, intern->add);
	if (r >= 0)
		r = database_prepare(database, renew_sql, N_INTERNED_KINDS, intern->renew);
	for (size_t i = 0; r >= 0 && i < N_REMEMBERED_KINDS; i++) {
		intern->remembered[i].recent.max = MAX_REMEMBERED;
		r = bulk_init(&intern->remembered[i].added, database, remembered_kinds[i].sql,
			      (size_t)remembered_kinds[i].n_keys + 1);
	}
	return r;
}

void store_intern_done(struct store_intern *intern)
{
	for (size_t i = 0; i < N_REMEMBERED_KINDS; i++)
		recent_ids_done(&intern->remembered[i].recent);
	recent_ids_done(&intern->functions);
}

void store_intern_forget(struct store_intern *intern)
{
	intern->removed = false;
	for (size_t i = 0; i < N_REMEMBERED_KINDS; i++) {
		recent_ids_clear(&intern->remembered[i].recent);
		bulk_forget(&intern->remembered[i].added);
	}
	recent_ids_clear(&intern->functions);
}

static int begin(struct store_intern *intern, int64_t window, int64_t horizon)
{
	int64_t last_id = 0;
	int r = 0;

	intern->window = window;
	intern->horizon = horizon;
	intern->adds_none = false;
	intern->is_new_window = false;
	memset(intern->largest, 0, sizeof(intern->largest));
	for (size_t i = 0; r >= 0 && i < N_REMEMBERED_KINDS; i++) {
		struct remembered *remembered = &intern->remembered[i];

		remembered->n_generations = 0;
		r = database_ask(intern->database, remembered_kinds[i].last_id, &last_id);
		if (r >= 0 && (last_id < 0 || last_id > MAX_ID))
			r = database_damaged(intern->database, "an id is invalid");
		if (r >= 0)
			remembered->next_id = last_id + 1;
	}
	return r;
}

/*
 * What the last window did not ask for is forgotten, or else much of the memory would be of rows
 * that nobody needs. A window that filled a generation has begun one itself.
 */
int store_intern_begin(struct store_intern *intern, int64_t window, int64_t horizon)
{
	int r;

	for (size_t i = 0; i < N_REMEMBERED_KINDS; i++)
		if (intern->remembered[i].n_generations == 0)
			recent_ids_begin_generation(&intern->remembered[i].recent);
	r = begin(intern, window, horizon);
	intern->is_new_window = true;
	return r;
}

int store_intern_begin_again(struct store_intern *intern, int64_t window, int64_t horizon)
{
	int r = begin(intern, window, horizon);

	intern->adds_none = true;
	return r;
}

int store_intern_begin_sum(struct store_intern *intern, int64_t newest, int64_t horizon)
{
	if (intern->removed)
		store_intern_forget(intern);
	return begin(intern, newest, horizon);
}

int store_intern_begin_renewal(struct store_intern *intern, int64_t newest, int64_t horizon)
{
	int r = store_intern_begin_sum(intern, newest, horizon);

	intern->adds_none = true;
	return r;
}

void store_intern_note_removed(struct store_intern *intern)
{
	intern->removed = true;
}

int store_intern_finish(struct store_intern *intern)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < N_REMEMBERED_KINDS; i++) {
		struct remembered *remembered = &intern->remembered[i];

		r = bulk_flush(&remembered->added);
		if (intern->is_new_window && remembered->n_generations == 0)
			recent_ids_forget_older(&remembered->recent);
	}
	return r;
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
 * Finds the row that the parameters of find are bound to, and renews it; @seen is the least of what
 * it refers to. 1, 0 where there is none, or -errno.
 */
static int find_row(struct store_intern *intern, enum interned_kind kind, int64_t seen,
		    struct interned *ret)
{
	struct statement *find = intern->find[kind];
	int r = statement_step(find);

	if (r <= 0)
		return r;
	*ret = (struct interned){ statement_int(find, 0), statement_int(find, 1), false };
	r = statement_reset(find);
	if (r >= 0)
		r = renew(intern, kind, seen, ret);
	return r < 0 ? r : 1;
}

/* Finds or adds the row that the parameters of both statements are bound to. */
static int intern_row(struct store_intern *intern, enum interned_kind kind, int64_t seen,
		      struct interned *ret)
{
	int r;

	seen = MIN(seen, intern->window);
	r = find_row(intern, kind, seen, ret);
	if (r != 0)
		return MIN(r, 0);
	if (intern->adds_none)
		return -ENOENT;
	statement_bind_int(intern->add[kind], seen_parameter[kind], seen);
	r = statement_run(intern->add[kind]);
	if (r < 0)
		return r;
	*ret = (struct interned){ database_last_id(intern->database), seen, true };
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

/* Passes @r on. */
static int note(struct store_intern *intern, enum interned_kind kind, const struct interned *row,
		int r)
{
	if (r >= 0)
		intern->largest[kind] = MAX(intern->largest[kind], row->id);
	return r;
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
	bind_int(intern, INTERNED_PROCESS, 7, process->restricted);
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
	bind_int(intern, INTERNED_OBJECT, 8, object->untrusted);
	bind_int(intern, INTERNED_OBJECT, 9, (int64_t)object->ctime_ns);
	return note(intern, INTERNED_OBJECT, ret,
		    intern_row(intern, INTERNED_OBJECT, INT64_MAX, ret));
}

/* What is remembered of @key: 1, 0 or -ENOMEM. */
static int recall(struct store_intern *intern, struct recent_ids *recent, struct id_key key,
		  struct interned *ret)
{
	struct id_value found;
	int r = recent_ids_find(recent, key, intern->horizon, &found);

	if (r > 0)
		*ret = (struct interned){ found.id, found.more, false };
	return r;
}

static int remember(struct recent_ids *recent, struct id_key key, const struct interned *row)
{
	return recent_ids_put(recent, key, (struct id_value){ row->id, row->seen });
}

/* What the next key would make forgotten must be found in the database from then on. */
static int write_before_forgetting(struct remembered *remembered)
{
	if (!recent_ids_full(&remembered->recent))
		return 0;
	remembered->n_generations++;
	return bulk_flush(&remembered->added);
}

/*
 * All of a function but its object and start is a hash. Who makes two names of one hash gets one
 * of them for the other, in a file of their own.
 */
static struct id_key key_of_function(int64_t object, const struct profile_function *function)
{
	uint64_t hash = fnv_add_number(FNV_BASIS, function->size);

	hash = fnv_add_number(hash, function->fingerprint);
	if (function->name)
		hash = fnv_add_text(hash, function->name);
	return (struct id_key){ object, (int64_t)function->start, (int64_t)hash };
}

static int find_or_add_function(struct store_intern *intern, struct interned object,
				const struct profile_function *function, struct interned *ret)
{
	const int64_t numbers[] = { object.id, function->start, function->size,
				    function->fingerprint };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		bind_int(intern, INTERNED_FUNCTION, (int)i + 1, numbers[i]);
	bind_text(intern, INTERNED_FUNCTION, 5, function->name);
	return intern_row(intern, INTERNED_FUNCTION, object.seen, ret);
}

int store_intern_function(struct store_intern *intern, struct interned object,
			  const struct profile_function *function, struct interned *ret)
{
	struct id_key key = key_of_function(object.id, function);
	int r = recall(intern, &intern->functions, key, ret);

	if (r == 0) {
		r = find_or_add_function(intern, object, function, ret);
		if (r >= 0)
			r = remember(&intern->functions, key, ret);
	}
	return note(intern, INTERNED_FUNCTION, ret, r);
}

/* The table gives its next row the id after the largest: naming it would cost a search for it. */
static int add_remembered(struct remembered *remembered, int n_keys, struct id_key key,
			  struct interned *ret)
{
	const int64_t keys[] = { key.a, key.b, key.c };
	int64_t values[1 + ARRAY_SIZE(keys)];

	ret->id = remembered->next_id++;
	ret->added = true;
	for (int i = 0; i < n_keys; i++)
		values[i] = keys[i];
	values[n_keys] = ret->seen;
	return bulk_add_row(&remembered->added, values);
}

/*
 * Of a row whose key is numbers: remembered, found or added. It is not sought in the database if
 * something that it refers to was added in this window, as @added says: if it was added itself, it
 * is remembered, unless two generations have begun since.
 */
static int intern_remembered(struct store_intern *intern, enum interned_kind kind,
			     struct id_key key, int64_t seen, bool added, struct interned *ret)
{
	struct remembered *remembered = &intern->remembered[kind - INTERNED_PLACE];
	const int n_keys = remembered_kinds[kind - INTERNED_PLACE].n_keys;
	int r = recall(intern, &remembered->recent, key, ret);

	if (r != 0)
		return r;
	r = write_before_forgetting(remembered);
	if (r < 0)
		return r;
	ret->added = false;
	ret->seen = MIN(seen, intern->window);
	if (!added || remembered->n_generations >= 2) {
		statement_bind_ints(intern->find[kind], (const int64_t[]){ key.a, key.b, key.c },
				    (size_t)n_keys);
		r = find_row(intern, kind, ret->seen, ret);
	}
	if (r == 0 && intern->adds_none)
		return -ENOENT;
	if (r == 0)
		r = add_remembered(remembered, n_keys, key, ret);
	return r < 0 ? r : remember(&remembered->recent, key, ret);
}

int store_intern_place(struct store_intern *intern, struct interned object, uint64_t offset,
		       struct interned function, struct interned *ret)
{
	struct id_key key = { object.id, (int64_t)offset, function.id };
	int r;

	if (key.a == 0 && key.b == 0 && key.c == 0) {
		*ret = INTERNED_NONE;
		return 0;
	}
	r = intern_remembered(intern, INTERNED_PLACE, key, MIN(object.seen, function.seen),
			      object.added || function.added, ret);
	return note(intern, INTERNED_PLACE, ret, r);
}

int store_intern_stack(struct store_intern *intern, struct interned parent, struct interned place,
		       struct interned *ret)
{
	struct id_key key = { parent.id, place.id, 0 };

	return note(intern, INTERNED_STACK, ret,
		    intern_remembered(intern, INTERNED_STACK, key, MIN(parent.seen, place.seen),
				      parent.added || place.added, ret));
}

int store_intern_stream(struct store_intern *intern, struct interned parent, struct interned origin,
			struct interned target, struct interned *ret)
{
	struct id_key key = { parent.id, origin.id, target.id };
	int64_t seen = MIN(origin.seen, target.seen);

	return note(intern, INTERNED_STREAM, ret,
		    intern_remembered(intern, INTERNED_STREAM, key, MIN(seen, parent.seen),
				      parent.added || origin.added || target.added, ret));
}
