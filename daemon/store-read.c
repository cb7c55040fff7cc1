/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Rows of counts come with numbers of places and stacks; each number is looked up once a window. That
 * the rows come in another order than the profile's does not matter: sealing sorts them.
 */
#include "daemon/store-read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "daemon/id-map.h"

enum {
	LIST_WINDOWS,
	READ_WINDOW,
	READ_INFO,
	READ_COUNTERS,
	READ_PROCESSES,
	READ_STACKS,
	READ_BRANCHES,
	READ_BLOCKS,
	READ_OUTER_FUNCTIONS,
	FIND_OBJECT,
	FIND_FUNCTION,
	FIND_PLACE,
	FIND_STACK,
	N_STATEMENTS,
};

#define WINDOW_COLUMNS "id, start_us, length_us, samples, lost, mode"

static const char *const sql[N_STATEMENTS] = {
	[LIST_WINDOWS] = "SELECT " WINDOW_COLUMNS " FROM window WHERE start_us < ? "
			 "ORDER BY start_us, id",
	[READ_WINDOW] = "SELECT " WINDOW_COLUMNS " FROM window WHERE id = ?",
	[READ_INFO] = "SELECT m.text, e.text, h.text, o.text, c.text, s.n_cpus, s.depth, "
		      "w.first_ns, w.last_ns "
		      "FROM window w JOIN source s ON s.id = w.source "
		      "LEFT JOIN string m ON m.id = s.mode AND m.id > 0 "
		      "LEFT JOIN string e ON e.id = s.event AND e.id > 0 "
		      "LEFT JOIN string h ON h.id = s.hostname AND h.id > 0 "
		      "LEFT JOIN string o ON o.id = s.os_release AND o.id > 0 "
		      "LEFT JOIN string c ON c.id = s.cpu AND c.id > 0 WHERE w.id = ?",
	[READ_COUNTERS] = "SELECT k.name, c.value FROM counter_count c "
			  "LEFT JOIN counter k ON k.id = c.counter WHERE c.window = ?",
	[READ_PROCESSES] = "SELECT c.process, c.samples, p.pid, p.start_ns, p.uid, m.text, e.text, "
			   "u.text FROM process_count c "
			   "LEFT JOIN process p ON p.id = c.process "
			   "LEFT JOIN string m ON m.id = p.comm AND m.id > 0 "
			   "LEFT JOIN string e ON e.id = p.executable AND e.id > 0 "
			   "LEFT JOIN string u ON u.id = p.unit AND u.id > 0 WHERE c.window = ?",
	[READ_STACKS] = "SELECT process, stack, samples, stitched, weight FROM stack_count "
			"WHERE window = ?",
	[READ_BRANCHES] = "SELECT process, origin, target, taken, mispredicted, aborted, cycles, "
			  "cycles_rows FROM branch_count WHERE window = ?",
	[READ_BLOCKS] = "SELECT process, first, last, runs, cycles, cycles_rows FROM block_count "
			"WHERE window = ?",
	[READ_OUTER_FUNCTIONS] = "SELECT function FROM outer_function WHERE window = ?",
	[FIND_OBJECT] = "SELECT kind, major, minor, inode, base, path, build_id FROM object "
			"WHERE id = ?",
	[FIND_FUNCTION] =
		"SELECT object, start, size, fingerprint, name FROM function WHERE id = ?",
	[FIND_PLACE] = "SELECT object, offset, function FROM place WHERE id = ?",
	[FIND_STACK] = "SELECT parent, place FROM stack WHERE id = ?",
};

_Static_assert(N_STATEMENTS <= N_STORE_READ, "store-read.h has too little room");

static const char *const counters[] = {
#define X(name, what) #name,
	PROFILE_COUNTERS(X)
#undef X
};

/* A window being read: what the rows seen so far are in the profile. */
struct reading {
	struct database *database;
	struct statement **statements;
	struct profile *profile;
	int64_t window;
	struct id_map objects, processes; /* ids to indices */
	struct id_map functions;          /* those that are in the profile */
	struct id_map places;             /* to index of the object, and offset */
	struct id_map nodes;              /* stacks, to parent and place */
	struct id_map stacks;             /* (process, stack) to index */
	int64_t *path;                    /* stacks whose parents are still to be added */
	size_t n_path, cap_path;
};

static void reading_done(struct reading *reading)
{
	profile_free(reading->profile);
	id_map_done(&reading->objects);
	id_map_done(&reading->processes);
	id_map_done(&reading->functions);
	id_map_done(&reading->places);
	id_map_done(&reading->nodes);
	id_map_done(&reading->stacks);
	free(reading->path);
}

int store_read_init(struct store_read *read, struct database *database)
{
	*read = (struct store_read){ .database = database };
	return database_prepare(database, sql, N_STATEMENTS, read->statements);
}

static struct window window_row(struct statement *row)
{
	struct window window = {
		.id = statement_int(row, 0),
		.start_us = (uint64_t)statement_int(row, 1),
		.length_us = (uint64_t)statement_int(row, 2),
		.samples = (uint64_t)statement_int(row, 3),
		.lost = (uint64_t)statement_int(row, 4),
	};
	const char *mode = statement_text(row, 5) ?: "";

	memcpy(window.mode, mode, strnlen(mode, sizeof(window.mode) - 1));
	return window;
}

static bool window_is_within(const struct window *window, uint64_t since_us, uint64_t until_us)
{
	uint64_t end_us;

	if (__builtin_add_overflow(window->start_us, window->length_us, &end_us))
		end_us = UINT64_MAX;
	return window->start_us < until_us && (window->start_us >= since_us || end_us > since_us);
}

int store_read_list(struct store_read *read, uint64_t since_us, uint64_t until_us,
		    struct window **ret, size_t *ret_n)
{
	struct statement *row = read->statements[LIST_WINDOWS];
	_cleanup_free_ struct window *windows = NULL;
	size_t n = 0, cap = 0;
	int r;

	statement_bind_int(row, 1, (int64_t)MIN(until_us, (uint64_t)INT64_MAX));
	while ((r = statement_step(row)) > 0) {
		struct window window = window_row(row);

		if (!window_is_within(&window, since_us, until_us))
			continue;
		r = ARRAY_RESERVE(&windows, &cap, n + 1);
		if (r < 0) {
			statement_reset(row);
			return r;
		}
		windows[n++] = window;
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(windows);
	*ret_n = n;
	return 0;
}

static const struct id_value *find_id(const struct id_map *map, int64_t id)
{
	return id_map_find(map, (struct id_key){ id, 0, 0 });
}

static int put_id(struct id_map *map, int64_t id, int64_t index, int64_t more)
{
	return id_map_put(map, (struct id_key){ id, 0, 0 }, (struct id_value){ index, more });
}

/* The one row with @id: 1, or damage where there is none. */
static int find_row(struct reading *reading, struct statement *row, const char *what, int64_t id)
{
	int r;

	statement_bind_int(row, 1, id);
	r = statement_step(row);
	if (r == 0)
		return database_damaged(reading->database,
					"window %" PRId64 " refers to %s %" PRId64
					", which is not there",
					reading->window, what, id);
	return r;
}

static int read_info(struct reading *reading)
{
	struct statement *row = reading->statements[READ_INFO];
	struct profile_info *info = &reading->profile->info;
	int r;

	r = find_row(reading, row, "the source of window", reading->window);
	if (r < 0)
		return r;
	info->mode = profile_string(reading->profile, statement_text(row, 0), &r);
	info->event = profile_string(reading->profile, statement_text(row, 1), &r);
	info->hostname = profile_string(reading->profile, statement_text(row, 2), &r);
	info->os_release = profile_string(reading->profile, statement_text(row, 3), &r);
	info->cpu = profile_string(reading->profile, statement_text(row, 4), &r);
	info->n_cpus = (uint32_t)statement_int(row, 5);
	info->depth = (uint32_t)statement_int(row, 6);
	info->start_ns = (uint64_t)statement_int(row, 7);
	info->end_ns = (uint64_t)statement_int(row, 8);
	return MIN(r, statement_reset(row));
}

static uint64_t *find_counter(struct profile *profile, const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(counters); i++) {
		if (strcmp(name, counters[i]) == 0)
			return (uint64_t *)&profile->counters + i;
	}
	return NULL;
}

static int read_counters(struct reading *reading)
{
	struct statement *row = reading->statements[READ_COUNTERS];
	int r;

	statement_bind_int(row, 1, reading->window);
	while ((r = statement_step(row)) > 0) {
		uint64_t *counter = find_counter(reading->profile, statement_text(row, 0));

		if (!counter) {
			statement_reset(row);
			return database_damaged(reading->database,
						"window %" PRId64 " has a counter of unknown name",
						reading->window);
		}
		*counter = (uint64_t)statement_int(row, 1);
	}
	return r;
}

static int read_process(struct reading *reading, struct statement *row)
{
	struct profile_process process = {
		.samples = (uint64_t)statement_int(row, 1),
		.pid = (int32_t)statement_int(row, 2),
		.start_ns = (uint64_t)statement_int(row, 3),
		.uid = statement_is_null(row, 4) ? UINT32_MAX : (uint32_t)statement_int(row, 4),
		.comm = statement_text(row, 5),
		.executable = statement_text(row, 6),
		.unit = statement_text(row, 7),
	};
	int64_t id = statement_int(row, 0), pid = statement_int(row, 2), index;

	if (statement_is_null(row, 2) || pid < -1 || pid > INT32_MAX)
		return database_damaged(reading->database, "process %" PRId64 " is none", id);
	index = profile_add_process(reading->profile, &process);
	if (index < 0)
		return (int)index;
	return put_id(&reading->processes, id, index, 0);
}

/* Calls @read_row for each row of the statement. */
static int read_rows(struct reading *reading, int which,
		     int (*read_row)(struct reading *reading, struct statement *row))
{
	struct statement *row = reading->statements[which];
	int r;

	statement_bind_int(row, 1, reading->window);
	while ((r = statement_step(row)) > 0) {
		r = read_row(reading, row);
		if (r < 0) {
			statement_reset(row);
			return r;
		}
	}
	return r;
}

static int find_process(struct reading *reading, int64_t id, uint32_t *ret)
{
	const struct id_value *known = find_id(&reading->processes, id);

	if (id != 0 && !known)
		return database_damaged(reading->database,
					"window %" PRId64 " does not count process %" PRId64,
					reading->window, id);
	*ret = id == 0 ? PROFILE_NONE : (uint32_t)known->id;
	return 0;
}

static int add_object(struct reading *reading, struct statement *row, int64_t *ret)
{
	struct profile_object object = {
		.major = (uint32_t)statement_int(row, 1),
		.minor = (uint32_t)statement_int(row, 2),
		.inode = (uint64_t)statement_int(row, 3),
		.base = (uint64_t)statement_int(row, 4),
		.path = statement_text(row, 5),
	};
	int64_t kind = statement_int(row, 0);
	const void *build_id;
	size_t n;

	build_id = statement_blob(row, 6, &n);
	if (kind < 0 || kind >= N_OBJECT_KINDS || n > PROFILE_BUILD_ID_MAX)
		return database_damaged(reading->database, "an object that is none");
	object.kind = (enum object_kind)kind;
	object.n_build_id = (uint8_t)n;
	if (n > 0)
		memcpy(object.build_id, build_id, n);
	*ret = profile_add_object(reading->profile, &object);
	return (int)MIN(*ret, 0);
}

static int find_object(struct reading *reading, int64_t id, uint32_t *ret)
{
	const struct id_value *known = find_id(&reading->objects, id);
	struct statement *row = reading->statements[FIND_OBJECT];
	int64_t index = 0;
	int r, q;

	if (id == 0 || known) {
		*ret = id == 0 ? PROFILE_NONE : (uint32_t)known->id;
		return 0;
	}
	r = find_row(reading, row, "object", id);
	if (r < 0)
		return r;
	r = add_object(reading, row, &index);
	q = statement_reset(row);
	if (r < 0 || q < 0)
		return MIN(r, q);
	*ret = (uint32_t)index;
	return put_id(&reading->objects, id, index, 0);
}

/* Sees to it that the function is in the profile. */
static int want_function(struct reading *reading, int64_t id)
{
	struct statement *row = reading->statements[FIND_FUNCTION];
	struct profile_function function;
	int64_t index;
	int r;

	if (id == 0 || find_id(&reading->functions, id))
		return 0;
	r = find_row(reading, row, "function", id);
	if (r < 0)
		return r;
	function = (struct profile_function){
		.start = (uint64_t)statement_int(row, 1),
		.size = (uint64_t)statement_int(row, 2),
		.fingerprint = (uint64_t)statement_int(row, 3),
		.name = statement_text(row, 4),
	};
	r = find_object(reading, statement_int(row, 0), &function.object);
	index = r < 0 ? r : profile_add_function(reading->profile, &function);
	r = statement_reset(row);
	if (index < 0 || r < 0)
		return (int)MIN(index, (int64_t)r);
	return put_id(&reading->functions, id, 0, 0);
}

static int find_place(struct reading *reading, int64_t id, struct location *ret)
{
	const struct id_value *known = find_id(&reading->places, id);
	struct statement *row = reading->statements[FIND_PLACE];
	int64_t object, function;
	int r;

	if (known) {
		*ret = (struct location){ (uint32_t)known->id, (uint64_t)known->more };
		return 0;
	}
	r = find_row(reading, row, "place", id);
	if (r < 0)
		return r;
	object = statement_int(row, 0);
	ret->offset = (uint64_t)statement_int(row, 1);
	function = statement_int(row, 2);
	r = statement_reset(row);
	if (r >= 0)
		r = find_object(reading, object, &ret->object);
	if (r >= 0)
		r = want_function(reading, function);
	if (r < 0)
		return r;
	return put_id(&reading->places, id, ret->object, (int64_t)ret->offset);
}

static int find_node(struct reading *reading, int64_t id, struct id_value *ret)
{
	const struct id_value *known = find_id(&reading->nodes, id);
	struct statement *row = reading->statements[FIND_STACK];
	int r;

	if (known) {
		*ret = *known;
		return 0;
	}
	r = find_row(reading, row, "stack", id);
	if (r < 0)
		return r;
	*ret = (struct id_value){ statement_int(row, 0), statement_int(row, 1) };
	r = statement_reset(row);
	if (r < 0)
		return r;
	if (ret->id < 0 || ret->id >= id) /* else there might be circles */
		return database_damaged(reading->database, "the parent of stack %" PRId64, id);
	return put_id(&reading->nodes, id, ret->id, ret->more);
}

/* Notes @id and those above it that the process does not have yet; *@ret is the index of the next. */
static int list_path(struct reading *reading, uint32_t process, int64_t id, uint32_t *ret)
{
	const struct id_value *known;
	struct id_value node;
	int r;

	for (reading->n_path = 0; id != 0; id = node.id) {
		known = id_map_find(&reading->stacks, (struct id_key){ process, id, 0 });
		if (known) {
			*ret = (uint32_t)known->id;
			return 0;
		}
		r = find_node(reading, id, &node);
		if (r >= 0)
			r = ARRAY_RESERVE(&reading->path, &reading->cap_path, reading->n_path + 1);
		if (r < 0)
			return r;
		reading->path[reading->n_path++] = id;
	}
	*ret = PROFILE_NONE;
	return 0;
}

/* Adds the nodes of the path from the outermost in, none with counts yet; *@ret is the last. */
static int add_path(struct reading *reading, uint32_t process, uint32_t *ret)
{
	struct profile_stack stack = { .process = process };
	struct id_value node;
	int64_t index;
	int r;

	while (reading->n_path > 0) {
		int64_t id = reading->path[--reading->n_path];

		stack.parent = *ret;
		r = find_node(reading, id, &node);
		if (r >= 0)
			r = find_place(reading, node.more, &stack.frame);
		if (r < 0)
			return r;
		index = profile_add_stack(reading->profile, &stack);
		if (index < 0)
			return (int)index;
		r = id_map_put(&reading->stacks, (struct id_key){ process, id, 0 },
			       (struct id_value){ index, 0 });
		if (r < 0)
			return r;
		*ret = (uint32_t)index;
	}
	return 0;
}

static int read_stack(struct reading *reading, struct statement *row)
{
	struct profile_stack *stack;
	uint32_t process, index;
	int r;

	r = find_process(reading, statement_int(row, 0), &process);
	if (r >= 0)
		r = list_path(reading, process, statement_int(row, 1), &index);
	if (r >= 0)
		r = add_path(reading, process, &index);
	if (r < 0)
		return r;
	if (index == PROFILE_NONE)
		return database_damaged(reading->database, "window %" PRId64 " counts no stack",
					reading->window);
	stack = &reading->profile->stacks[index];
	stack->samples = (uint64_t)statement_int(row, 2);
	stack->stitched = (uint64_t)statement_int(row, 3);
	stack->weight = (uint64_t)statement_int(row, 4);
	return 0;
}

static int read_branch(struct reading *reading, struct statement *row)
{
	struct profile_branch branch = {
		.taken = (uint64_t)statement_int(row, 3),
		.mispredicted = (uint64_t)statement_int(row, 4),
		.aborted = (uint64_t)statement_int(row, 5),
		.cycles = (uint64_t)statement_int(row, 6),
		.cycles_rows = (uint64_t)statement_int(row, 7),
	};
	int r;

	r = find_process(reading, statement_int(row, 0), &branch.process);
	if (r >= 0)
		r = find_place(reading, statement_int(row, 1), &branch.from);
	if (r >= 0)
		r = find_place(reading, statement_int(row, 2), &branch.to);
	if (r < 0)
		return r;
	return (int)MIN(profile_add_branch(reading->profile, &branch), (int64_t)0);
}

static int read_block(struct reading *reading, struct statement *row)
{
	struct profile_block block = {
		.runs = (uint64_t)statement_int(row, 3),
		.cycles = (uint64_t)statement_int(row, 4),
		.cycles_rows = (uint64_t)statement_int(row, 5),
	};
	struct location first, last;
	int r;

	r = find_process(reading, statement_int(row, 0), &block.process);
	if (r >= 0)
		r = find_place(reading, statement_int(row, 1), &first);
	if (r >= 0)
		r = find_place(reading, statement_int(row, 2), &last);
	if (r < 0)
		return r;
	if (first.object != last.object)
		return database_damaged(reading->database,
					"window %" PRId64 " has a block across two objects",
					reading->window);
	block.object = first.object;
	block.start = first.offset;
	block.end = last.offset;
	return (int)MIN(profile_add_block(reading->profile, &block), (int64_t)0);
}

static int read_outer_function(struct reading *reading, struct statement *row)
{
	return want_function(reading, statement_int(row, 0));
}

static int read_profile(struct reading *reading)
{
	int r;

	r = profile_new(&reading->profile);
	if (r >= 0)
		r = read_info(reading);
	if (r >= 0)
		r = read_counters(reading);
	if (r >= 0)
		r = read_rows(reading, READ_PROCESSES, read_process);
	if (r >= 0)
		r = read_rows(reading, READ_STACKS, read_stack);
	if (r >= 0)
		r = read_rows(reading, READ_BRANCHES, read_branch);
	if (r >= 0)
		r = read_rows(reading, READ_BLOCKS, read_block);
	if (r >= 0)
		r = read_rows(reading, READ_OUTER_FUNCTIONS, read_outer_function);
	return r < 0 ? r : profile_seal(reading->profile);
}

int store_read_window(struct store_read *read, int64_t id, struct window *ret_window,
		      struct profile **ret)
{
	_cleanup_(reading_done) struct reading reading = {
		.database = read->database,
		.statements = read->statements,
		.window = id,
	};
	struct statement *row = read->statements[READ_WINDOW];
	struct window window;
	int r;

	statement_bind_int(row, 1, id);
	r = statement_step(row);
	if (r <= 0)
		return r;
	window = window_row(row);
	r = statement_reset(row);
	if (r >= 0)
		r = read_profile(&reading);
	if (r < 0)
		return r;
	*ret_window = window;
	*ret = TAKE_PTR(reading.profile);
	return 1;
}
