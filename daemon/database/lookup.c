/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/database/lookup.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"

enum {
	FIND_OBJECT,
	FIND_FUNCTION,
	FIND_PLACE,
	FIND_STACK,
	FIND_STREAM,
	N_STATEMENTS,
};

static const char *const sql[N_STATEMENTS] = {
	[FIND_OBJECT] = "SELECT kind, major, minor, inode, base, path, build_id, untrusted, "
			"ctime_ns FROM object "
			"WHERE id = ?",
	[FIND_FUNCTION] =
		"SELECT object, start, size, fingerprint, name FROM function WHERE id = ?",
	[FIND_PLACE] = "SELECT object, offset, function FROM place WHERE id = ?",
	[FIND_STACK] = "SELECT parent, place FROM stack WHERE id = ?",
	[FIND_STREAM] = "SELECT parent, origin, target FROM stream WHERE id = ?",
};

_Static_assert(N_STATEMENTS == N_STORE_LOOKUP, "lookup.h has another number");

int store_lookup_init(struct store_lookup *lookup, struct database *database)
{
	*lookup = (struct store_lookup){ .database = database };
	return database_prepare(database, sql, N_STATEMENTS, lookup->statements);
}

void store_lookup_begin(struct store_lookup *lookup, struct profile *profile)
{
	lookup->profile = profile;
}

static void forget_tree(struct store_tree *tree)
{
	id_map_clear(&tree->nodes);
	id_map_clear(&tree->indices);
}

void store_lookup_end(struct store_lookup *lookup)
{
	lookup->profile = NULL;
	id_map_clear(&lookup->objects);
	id_map_clear(&lookup->functions);
	id_map_clear(&lookup->places);
	forget_tree(&lookup->stacks);
	forget_tree(&lookup->streams);
	free(lookup->path);
	lookup->path = NULL;
	lookup->n_path = lookup->cap_path = 0;
}

static const struct id_value *find_id(const struct id_map *map, int64_t id)
{
	return id_map_find(map, (struct id_key){ id, 0, 0 });
}

static int put_id(struct id_map *map, int64_t id, int64_t index, int64_t more)
{
	return id_map_put(map, (struct id_key){ id, 0, 0 }, (struct id_value){ index, more });
}

/* The row with @id: 1, or damage if there is none. */
static int find_row(struct store_lookup *lookup, struct statement *row, const char *what,
		    int64_t id)
{
	int r;

	statement_bind_int(row, 1, id);
	r = statement_step(row);
	if (r == 0)
		return database_damaged(lookup->database,
					"%s %" PRId64 " does not exist, but is referred to", what,
					id);
	return r;
}

static int add_object(struct store_lookup *lookup, struct statement *row, int64_t *ret)
{
	struct profile_object object = {
		.major = (uint32_t)statement_int(row, 1),
		.minor = (uint32_t)statement_int(row, 2),
		.inode = (uint64_t)statement_int(row, 3),
		.base = (uint64_t)statement_int(row, 4),
		.path = statement_text(row, 5),
		.untrusted = statement_int(row, 7) != 0,
		.ctime_ns = (uint64_t)statement_int(row, 8),
	};
	int64_t kind = statement_int(row, 0);
	const void *build_id;
	size_t n;

	build_id = statement_blob(row, 6, &n);
	if (kind < 0 || kind >= N_OBJECT_KINDS || n > PROFILE_BUILD_ID_MAX)
		return database_damaged(lookup->database, "an invalid object");
	object.kind = (enum object_kind)kind;
	object.n_build_id = (uint8_t)n;
	if (n > 0)
		memcpy(object.build_id, build_id, n);
	*ret = profile_add_object(lookup->profile, &object);
	return (int)MIN(*ret, 0);
}

int store_lookup_object(struct store_lookup *lookup, int64_t id, uint32_t *ret)
{
	const struct id_value *found = find_id(&lookup->objects, id);
	struct statement *row = lookup->statements[FIND_OBJECT];
	int64_t index = 0;
	int r, q;

	if (id == 0 || found) {
		*ret = id == 0 ? PROFILE_NONE : (uint32_t)found->id;
		return 0;
	}
	r = find_row(lookup, row, "object", id);
	if (r < 0)
		return r;
	r = add_object(lookup, row, &index);
	q = statement_reset(row);
	if (r < 0 || q < 0)
		return MIN(r, q);
	*ret = (uint32_t)index;
	return put_id(&lookup->objects, id, index, 0);
}

int store_lookup_function(struct store_lookup *lookup, int64_t id, struct location *ret)
{
	const struct id_value *found = find_id(&lookup->functions, id);
	struct statement *row = lookup->statements[FIND_FUNCTION];
	struct profile_function function;
	int64_t index;
	int r;

	if (found && ret)
		*ret = (struct location){ (uint32_t)found->id, (uint64_t)found->more };
	if (id == 0 || found)
		return 0;
	r = find_row(lookup, row, "function", id);
	if (r < 0)
		return r;
	function = (struct profile_function){
		.start = (uint64_t)statement_int(row, 1),
		.size = (uint64_t)statement_int(row, 2),
		.fingerprint = (uint64_t)statement_int(row, 3),
		.name = statement_text(row, 4),
	};
	r = store_lookup_object(lookup, statement_int(row, 0), &function.object);
	index = r < 0 ? r : profile_add_function(lookup->profile, &function);
	r = statement_reset(row);
	if (index < 0 || r < 0)
		return (int)MIN(index, (int64_t)r);
	if (ret)
		*ret = (struct location){ function.object, function.start };
	return put_id(&lookup->functions, id, function.object, (int64_t)function.start);
}

int store_lookup_place(struct store_lookup *lookup, int64_t id, struct location *ret)
{
	const struct id_value *found = find_id(&lookup->places, id);
	struct statement *row = lookup->statements[FIND_PLACE];
	int64_t object, function;
	int r;

	if (found) {
		*ret = (struct location){ (uint32_t)found->id, (uint64_t)found->more };
		return 0;
	}
	r = find_row(lookup, row, "place", id);
	if (r < 0)
		return r;
	object = statement_int(row, 0);
	ret->offset = (uint64_t)statement_int(row, 1);
	function = statement_int(row, 2);
	r = statement_reset(row);
	if (r >= 0)
		r = store_lookup_object(lookup, object, &ret->object);
	if (r >= 0)
		r = store_lookup_function(lookup, function, NULL);
	if (r < 0)
		return r;
	return put_id(&lookup->places, id, ret->object, (int64_t)ret->offset);
}

static int put_node(struct store_tree *tree, const struct store_node *node, bool is_stream)
{
	int r = put_id(&tree->nodes, node->id, node->parent, node->place);

	if (r < 0 || !is_stream)
		return r;
	return id_map_put(&tree->nodes, (struct id_key){ node->id, 1, 0 },
			  (struct id_value){ node->target, 0 });
}

static bool find_known_node(const struct store_tree *tree, bool is_stream, struct store_node *node)
{
	const struct id_value *found = find_id(&tree->nodes, node->id);

	if (!found)
		return false;
	node->parent = found->id;
	node->place = found->more;
	if (is_stream)
		node->target = id_map_find(&tree->nodes, (struct id_key){ node->id, 1, 0 })->id;
	return true;
}

/* Fills in the node, found by its id. */
static int find_node(struct store_lookup *lookup, struct store_tree *tree, struct store_node *node)
{
	bool is_stream = tree == &lookup->streams;
	struct statement *row = lookup->statements[is_stream ? FIND_STREAM : FIND_STACK];
	const char *what = is_stream ? "stream" : "stack";
	int r;

	if (find_known_node(tree, is_stream, node))
		return 0;
	r = find_row(lookup, row, what, node->id);
	if (r < 0)
		return r;
	node->parent = statement_int(row, 0);
	node->place = statement_int(row, 1);
	if (is_stream)
		node->target = statement_int(row, 2);
	r = statement_reset(row);
	if (r < 0)
		return r;
	if (node->parent < 0 || node->parent >= node->id) /* else there might be cycles */
		return database_damaged(lookup->database, "the parent of %s %" PRId64, what,
					node->id);
	return put_node(tree, node, is_stream);
}

/* Lists @id and the nodes above it that the process does not have yet; *@ret is the index of the
 * next. */
static int list_path(struct store_lookup *lookup, struct store_tree *tree, uint32_t process,
		     int64_t id, uint32_t *ret)
{
	const struct id_value *found;
	struct store_node node;
	int r;

	for (lookup->n_path = 0; id != 0; id = node.parent) {
		found = id_map_find(&tree->indices, (struct id_key){ process, id, 0 });
		if (found) {
			*ret = (uint32_t)found->id;
			return 0;
		}
		node = (struct store_node){ .id = id };
		r = find_node(lookup, tree, &node);
		if (r >= 0)
			r = ARRAY_RESERVE(&lookup->path, &lookup->cap_path, lookup->n_path + 1);
		if (r < 0)
			return r;
		lookup->path[lookup->n_path++] = node;
	}
	*ret = PROFILE_NONE;
	return 0;
}

/* The index of the node, added to the profile without counts, or -errno. */
static int64_t add_node(struct store_lookup *lookup, const struct store_tree *tree,
			const struct store_node *node, uint32_t parent, uint32_t process)
{
	struct profile_stack stack = { .parent = parent, .process = process };
	struct profile_stream stream = { .parent = parent, .process = process };
	int r;

	if (tree == &lookup->stacks) {
		r = store_lookup_place(lookup, node->place, &stack.frame);
		return r < 0 ? r : profile_add_stack(lookup->profile, &stack);
	}
	r = store_lookup_place(lookup, node->place, &stream.from);
	if (r >= 0)
		r = store_lookup_place(lookup, node->target, &stream.to);
	return r < 0 ? r : profile_add_stream(lookup->profile, &stream);
}

/* Adds the nodes of the path from the root on; *@ret is the last. */
static int add_path(struct store_lookup *lookup, struct store_tree *tree, uint32_t process,
		    uint32_t *ret)
{
	while (lookup->n_path > 0) {
		const struct store_node *node = &lookup->path[--lookup->n_path];
		int64_t index = add_node(lookup, tree, node, *ret, process);
		int r;

		if (index < 0)
			return (int)index;
		r = id_map_put(&tree->indices, (struct id_key){ process, node->id, 0 },
			       (struct id_value){ index, 0 });
		if (r < 0)
			return r;
		*ret = (uint32_t)index;
	}
	return 0;
}

static int lookup_node(struct store_lookup *lookup, struct store_tree *tree, uint32_t process,
		       int64_t id, uint32_t *ret)
{
	int r;

	r = list_path(lookup, tree, process, id, ret);
	return r < 0 ? r : add_path(lookup, tree, process, ret);
}

int store_lookup_stack(struct store_lookup *lookup, uint32_t process, int64_t id, uint32_t *ret)
{
	return lookup_node(lookup, &lookup->stacks, process, id, ret);
}

int store_lookup_stream(struct store_lookup *lookup, uint32_t process, int64_t id, uint32_t *ret)
{
	if (id == 0)
		return database_damaged(lookup->database, "samples of no stream");
	return lookup_node(lookup, &lookup->streams, process, id, ret);
}
