/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/symbol/resolver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/parser/message.h"
#include "common/parser/parser.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

/* 0 for a failure that the object has from now on. */
static int end_asking(struct object_cache *cache, struct cached_object *object, int r,
		      const struct fault *why)
{
	if (r >= 0 || r == -ENOMEM)
		return r;
	return object_cache_fail(cache, object, r, why);
}

/* A file without symbols has one range, from the first offset asked for to the end. */
static bool has_no_functions(const struct parser_table *table, uint64_t first_offset)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < table->n; i++) {
		if (table->rows[i].name || table->rows[i].last != UINT64_MAX)
			return false;
		first = MIN(first, table->rows[i].first);
	}
	return first == first_offset;
}

static int add_rows(struct symbol_cache *symbols, const struct parser_table *table)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < table->n; i++) {
		const struct parser_range *row = &table->rows[i];
		const struct symbol_cache_range range = {
			.first = row->first,
			.last = row->last,
			.start = row->start,
			.size = row->size,
			.name = (char *)row->name,
		};

		r = symbol_cache_add(symbols, &range);
	}
	return r;
}

/* 1, 0 or -ENOMEM, as resolver_add(). */
static int add_from_file(struct object_cache *cache, struct cached_object *object,
			 const uint64_t *offsets, size_t n)
{
	struct parser_table table = {};
	struct fault why = { .text = "" };
	bool empty;
	int r;

	r = parser_file_resolve(object->file, offsets, n, 0, &table, NULL, &why);
	if (r < 0)
		return end_asking(cache, object, r, &why);
	empty = has_no_functions(&table, offsets[0]);
	if (!empty)
		r = add_rows(&object->symbol_cache, &table);
	parser_table_done(&table);
	if (empty)
		fault_set(&why, -ENODATA, "%s has no symbols", object_cache_file_name(object));
	return empty ? end_asking(cache, object, -ENODATA, &why) : r < 0 ? r : 1;
}

static int add_from_table(struct cached_object *object, const uint64_t *offsets, size_t n)
{
	struct symbol_table *symbols = object->symbols;
	struct symbol_cache_range range = {};
	int r = 0;

	for (size_t k = 0; r >= 0 && k < n; k++) {
		size_t i;

		if (k > 0 && offsets[k] <= range.last)
			continue;
		i = symbol_table_find(symbols, offsets[k]);
		range = (struct symbol_cache_range){};
		symbol_table_get_range(symbols, offsets[k], i, &range.first, &range.last);
		if (i != SYMBOL_TABLE_NONE) {
			struct symbol_entry e = symbol_table_get(symbols, i);

			range.start = e.start;
			range.size = e.size;
			range.name = (char *)symbol_table_name(symbols, i);
			if (!range.name)
				return -ENOMEM;
		}
		r = symbol_cache_add(&object->symbol_cache, &range);
	}
	return r;
}

static bool is_mangled(const char *name)
{
	return name && (strncmp(name, "_R", 2) == 0 || strncmp(name, "_Z", 2) == 0);
}

/* Demangles the new names; without a parser they stay. Rust modules of the kernel have such. */
static int demangle_new(struct object_cache *cache, struct symbol_cache *symbols)
{
	_cleanup_free_ const char **names = NULL;
	_cleanup_free_ char **demangled = NULL;
	struct fault ignored;
	size_t n = 0;
	int r;

	if (ARRAY_ALLOCATE(&names, symbols->n - symbols->n_finalized) < 0)
		return -ENOMEM;
	for (size_t i = symbols->n_finalized; i < symbols->n; i++)
		if (is_mangled(symbols->ranges[i].name))
			names[n++] = symbols->ranges[i].name;
	r = n > 0 ? parser_demangle(object_cache_parser(cache), names, n, &demangled, &ignored) :
		    -ENODATA;
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	n = 0;
	for (size_t i = symbols->n_finalized; r >= 0 && i < symbols->n; i++)
		if (is_mangled(symbols->ranges[i].name))
			r = symbol_cache_rename(symbols, i, demangled[n++]);
	return r;
}

int resolver_add(struct object_cache *cache, struct cached_object *object, const uint64_t *offsets,
		 size_t n)
{
	int r = 1;

	if (object->why || (!object->symbols && !object->file))
		return 0;
	if (object->symbols) {
		r = add_from_table(object, offsets, n);
		if (r >= 0)
			r = demangle_new(cache, &object->symbol_cache);
		r = r < 0 ? r : 1;
	}
	for (size_t i = 0; object->file && r > 0 && i < n; i += MESSAGE_OFFSETS)
		r = add_from_file(cache, object, offsets + i, MIN(n - i, (size_t)MESSAGE_OFFSETS));
	symbol_cache_finalize(&object->symbol_cache);
	return r;
}

static int compare_rows(const void *p, const void *q)
{
	const struct parser_range *a = p, *b = q;

	RETURN_UNLESS_EQUAL(COMPARE(a->start, b->start));
	return COMPARE(a->size, b->size);
}

static void take_over(struct symbol_cache *symbols, const struct parser_table *table,
		      uint64_t least)
{
	if (table->n > 1)
		qsort(table->rows, table->n, sizeof(*table->rows), compare_rows);
	for (size_t i = 0; i < symbols->n && table->n > 0; i++) {
		struct symbol_cache_range *range = &symbols->ranges[i];
		const struct parser_range key = { .start = range->start, .size = range->size };
		const struct parser_range *row;

		if (!symbol_cache_lacks_fingerprint(range, least))
			continue;
		row = bsearch(&key, table->rows, table->n, sizeof(key), compare_rows);
		if (!row || !row->fingerprinted)
			continue;
		range->fingerprint = row->fingerprint;
		range->fingerprinted = true;
	}
}

static void give_up(struct symbol_cache *symbols, uint64_t least)
{
	for (size_t i = 0; i < symbols->n; i++)
		if (symbol_cache_lacks_fingerprint(&symbols->ranges[i], least))
			symbols->ranges[i].fingerprinted = true;
}

int resolver_take_fingerprints(struct object_cache *cache, struct cached_object *object,
			       uint64_t least, size_t *n_left)
{
	struct symbol_cache *symbols = &object->symbol_cache;
	_cleanup_free_ uint64_t *offsets = NULL;
	size_t n = 0;
	int r = 1;

	if (ARRAY_ALLOCATE(&offsets, symbols->n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < symbols->n; i++)
		if (symbol_cache_lacks_fingerprint(&symbols->ranges[i], least))
			offsets[n++] = symbols->ranges[i].first;
	if (!object->file)
		give_up(symbols, least);
	for (size_t i = 0; object->file && r > 0 && *n_left > 0 && i < n; i += MESSAGE_OFFSETS) {
		size_t n_now = MIN(n - i, (size_t)MESSAGE_OFFSETS), n_code = 0;
		struct parser_table table = {};
		struct fault why = { .text = "" };

		r = parser_file_resolve(object->file, offsets + i, n_now, *n_left, &table, &n_code,
					&why);
		if (r < 0) {
			r = end_asking(cache, object, r, &why);
			give_up(symbols, least);
			continue;
		}
		take_over(symbols, &table, least);
		parser_table_done(&table);
		*n_left -= MIN(*n_left, n_code);
		r = 1;
	}
	return MIN(r, 0);
}
