/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/export/string-table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/export/clean-text.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct entry {
	char *key;
	char *clean;
	uint32_t number;
	UT_hash_handle hh;
};

struct string_table {
	struct entry *index;
	struct entry **rows;
	size_t n, cap;
};

static void entry_free(struct entry *entry)
{
	free(entry->key);
	free(entry->clean);
	free(entry);
}

int string_table_new(struct string_table **ret)
{
	_cleanup_(string_table_freep) struct string_table *table = calloc(1, sizeof(*table));

	if (!table || string_table_find(table, "") < 0)
		return -ENOMEM;
	*ret = TAKE_PTR(table);
	return 0;
}

struct string_table *string_table_free(struct string_table *table)
{
	if (!table)
		return NULL;
	HASH_CLEAR(hh, table->index);
	for (size_t i = 0; i < table->n; i++)
		entry_free(table->rows[i]);
	free(table->rows);
	free(table);
	return NULL;
}

static int64_t add(struct string_table *table, const char *s)
{
	struct entry *entry = calloc(1, sizeof(*entry));

	if (!entry)
		return -ENOMEM;
	entry->key = strdup(s);
	entry->clean = clean_text(s);
	entry->number = (uint32_t)table->n;
	if (entry->key && entry->clean &&
	    ARRAY_RESERVE(&table->rows, &table->cap, table->n + 1) == 0)
		HASH_ADD_KEYPTR(hh, table->index, entry->key, strlen(s), entry);
	if (!entry->hh.tbl) {
		entry_free(entry);
		return -ENOMEM;
	}
	table->rows[table->n++] = entry;
	return entry->number;
}

int64_t string_table_find(struct string_table *table, const char *s)
{
	struct entry *entry;

	HASH_FIND(hh, table->index, s, strlen(s), entry);
	return entry ? entry->number : add(table, s);
}

size_t string_table_size(const struct string_table *table)
{
	return table->n;
}

const char *string_table_get(const struct string_table *table, size_t number)
{
	return table->rows[number]->clean;
}
