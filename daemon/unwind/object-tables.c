/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/unwind/object-tables.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "daemon/unwind/rule-cache.h"

#define SOON_TRIES  8 /* at first a table is asked for in each turn: its file may be opened soon */
#define LATER_TURNS 8 /* then this many turns lie between two requests */
#define SLOW_TURNS  8 /* the turns after the first try that took too much CPU time, */
#define SLOW_TIMES  4 /* what they are multiplied by at each further one, */
#define SLOW_TRIES  6 /* up to this one: each may take seconds of a CPU */
#define MAX_ENTRIES 16384 /* objects remembered, with a table or without */

/* Its object has its number: finding it takes no search. */
struct entry {
	struct object *object; /* a reference */
	uint64_t id;           /* of the request */
	uint64_t used;         /* the last turn in which it was needed */
	uint64_t answered;     /* the turn of the answer */
	struct unwind_table table;
	bool coming;
	bool later;       /* to be asked for again, after some turns */
	uint8_t n_laters; /* how often it could not be had, up to SOON_TRIES */
	uint8_t n_slow;   /* how often it took too much CPU time, up to SLOW_TRIES */
};

struct object_tables {
	struct table_exchange *exchange;
	struct entry *entries;
	size_t n_entries, cap_entries;
	uint64_t next_id, turn;
	size_t n_bytes, n_tables, max_bytes;
	bool ask_again; /* for a table that somebody waits for, in the next turn */
	struct rule_cache rules;
};

int object_tables_new(struct object_tables **ret, struct table_exchange *exchange, size_t max_bytes)
{
	struct object_tables *tables = calloc(1, sizeof(*tables));

	if (!tables)
		return -ENOMEM;
	tables->exchange = exchange;
	tables->max_bytes = max_bytes;
	*ret = tables;
	return 0;
}

/* The last entry takes the place of the one that goes. */
static void forget(struct object_tables *t, struct entry *entry)
{
	if (entry->table.n_rows) {
		t->n_bytes -= unwind_table_bytes(&entry->table);
		t->n_tables--;
	}
	rule_cache_clear(&t->rules);
	unwind_table_done(&entry->table);
	entry->object->table = PROFILE_NONE;
	object_unref(entry->object);
	*entry = t->entries[--t->n_entries];
	if (entry < t->entries + t->n_entries)
		entry->object->table = (uint32_t)(entry - t->entries);
}

struct object_tables *object_tables_free(struct object_tables *tables)
{
	if (!tables)
		return NULL;
	while (tables->n_entries > 0)
		forget(tables, &tables->entries[tables->n_entries - 1]);
	free(tables->entries);
	free(tables);
	return NULL;
}

static struct entry *find_unused(const struct object_tables *t, bool with_table)
{
	struct entry *found = NULL;

	for (struct entry *entry = t->entries; entry < t->entries + t->n_entries; entry++)
		if (!entry->coming && (!with_table || entry->table.n_rows) &&
		    (!found || entry->used < found->used))
			found = entry;
	return found;
}

static bool has_code(const struct profile_object *what)
{
	return what->kind == OBJECT_VDSO || (what->kind == OBJECT_FILE && what->inode != 0);
}

/* Without room for the request it is tried again later. */
static void ask(struct object_tables *t, struct entry *entry)
{
	const struct profile_object *what = &entry->object->what;
	struct wanted_table wanted = {
		.id = t->next_id,
		.is_vdso = what->kind == OBJECT_VDSO,
		.major = what->major,
		.minor = what->minor,
		.inode = what->inode,
		.generation = what->generation,
	};

	entry->later = false;
	if (!t->exchange || !has_code(what))
		return;
	entry->id = t->next_id++;
	entry->coming = table_exchange_want(t->exchange, &wanted);
	entry->later = !entry->coming;
	entry->answered = t->turn;
}

/* NULL without memory, or room: it is tried again at the next sample. */
static struct entry *want(struct object_tables *t, struct object *object)
{
	struct entry *entry;

	if (t->n_entries >= MAX_ENTRIES) {
		entry = find_unused(t, false);
		if (!entry || entry->used == t->turn) /* a walk may have its table */
			return NULL;
		forget(t, entry);
	}
	if (ARRAY_RESERVE(&t->entries, &t->cap_entries, t->n_entries + 1) < 0)
		return NULL;
	object->table = (uint32_t)t->n_entries++;
	entry = &t->entries[object->table];
	*entry = (struct entry){ .object = object_ref(object), .used = t->turn };
	ask(t, entry);
	return entry;
}

static bool is_soon(const struct entry *entry)
{
	return entry->n_laters < SOON_TRIES && entry->n_slow == 0;
}

static uint64_t turns_to_wait(const struct entry *entry)
{
	uint64_t turns = SLOW_TURNS;

	if (entry->n_slow == 0)
		return is_soon(entry) ? 1 : LATER_TURNS + 1;
	for (unsigned int i = 1; i < entry->n_slow; i++)
		turns *= SLOW_TIMES;
	return turns + 1;
}

enum object_table object_tables_find(struct object_tables *tables, struct object *object,
				     const struct unwind_table **ret)
{
	struct entry *entry;

	*ret = NULL;
	entry = object->table == PROFILE_NONE ? want(tables, object) :
						&tables->entries[object->table];
	if (_unlikely_(!entry))
		return OBJECT_TABLE_UNKNOWN;
	if (_unlikely_(entry->later) && tables->turn - entry->answered >= turns_to_wait(entry))
		ask(tables, entry);
	entry->used = tables->turn;
	if (entry->coming)
		return OBJECT_TABLE_COMING;
	if (entry->later && is_soon(entry)) {
		tables->ask_again = true;
		return OBJECT_TABLE_COMING;
	}
	if (entry->later)
		return OBJECT_TABLE_UNKNOWN;
	if (entry->table.n_rows == 0)
		return OBJECT_TABLE_NONE;
	*ret = &entry->table;
	return OBJECT_TABLE_THERE;
}

const struct unwind_rule *object_tables_find_rule(struct object_tables *tables,
						  const struct object *object,
						  const struct unwind_table *table, uint64_t offset,
						  bool *ret_by_fp)
{
	return rule_cache_find(&tables->rules, object->table, table, offset, ret_by_fp);
}

static struct entry *find_request(const struct object_tables *t, uint64_t id)
{
	for (struct entry *entry = t->entries; entry < t->entries + t->n_entries; entry++)
		if (entry->coming && entry->id == id)
			return entry;
	return NULL;
}

static void take(struct object_tables *t, struct built_table *built)
{
	struct entry *entry = find_request(t, built->id);

	if (!entry) {
		unwind_table_done(&built->table);
		return;
	}
	if (entry->table.n_rows) /* no rule of it may stay */
		rule_cache_clear(&t->rules);
	entry->coming = false;
	entry->later = built->later || built->slow;
	entry->n_laters += built->later && entry->n_laters < SOON_TRIES;
	entry->n_slow += built->slow && entry->n_slow < SLOW_TRIES;
	entry->answered = t->turn;
	unwind_table_done(&entry->table);
	entry->table = built->table;
	if (!entry->table.n_rows)
		return;
	t->n_bytes += unwind_table_bytes(&entry->table);
	t->n_tables++;
}

bool object_tables_update(struct object_tables *tables)
{
	struct built_table built;
	struct entry *unused;
	bool any = tables->ask_again;

	tables->ask_again = false;
	tables->turn++;
	while (tables->exchange && table_exchange_take_built(tables->exchange, &built)) {
		take(tables, &built);
		any = true;
	}
	while (tables->n_bytes > tables->max_bytes) {
		unused = find_unused(tables, true);
		if (!unused)
			break;
		forget(tables, unused);
	}
	return any;
}

size_t object_tables_bytes(const struct object_tables *tables, size_t *ret_n)
{
	*ret_n = tables->n_tables;
	return tables->n_bytes;
}
