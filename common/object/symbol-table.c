/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An array sorted by start. The offsets are divided into as many buckets of equal size as there are
 * symbols, and the first symbol of each bucket is known, so a binary search over the starts usually
 * takes one or two steps. Where symbols crowd in one bucket it takes more.
 *
 * Functions may nest: a part of one may have its own name. So each symbol has the index of the one
 * around it, and a search goes outwards from the last symbol that starts at or before the offset.
 * Files may be damaged, so at most MAX_NESTING levels are followed.
 *
 * Of several names for one offset the best is: a function rather than a label, one with a size,
 * global before weak before local, fewer leading underscores, shorter, first in the alphabet.
 */
#include "common/object/symbol-table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/object/name-pages.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"
#include "common/util/printable.h"
#include "common/util/sort.h"

#define NO_OUTER     UINT32_MAX
#define MAX_NESTING  8
#define MAX_SYMBOLS  (4U << 20)
#define MAX_COMPARED 256 /* bytes of names compared */
#define MAX_NAME     ((size_t)4096)

/* An entry of a packed table, without start and size. */
struct packed {
	uint32_t name; /* where it is in the one block of names */
	uint8_t binding;
	bool label, stub;
};

struct symbol_table {
	struct symbol_entry *entries; /* NULL in a packed table */
	struct packed *packed;
	const char *text; /* of packed */
	size_t n, cap;

	/* of a finalized table */
	uint64_t *starts;
	uint32_t *sizes;
	uint32_t *outer; /* NULL if no symbol is inside of another */
	symbol_demangler demangler;
	struct name_pages *names; /* demangled, on demand */
	uint32_t *buckets;        /* the first symbol of each; one more for the end */
	size_t n_buckets;
	unsigned int shift; /* a bucket has 1 << shift offsets */
	size_t n_finalized;

	void **blocks;
	size_t n_blocks, cap_blocks, block_bytes;
};

/* foo@@GLIBC_2.2.5 and foo@GLIBC_2.2.5 are both foo. */
static int copy_name(char **ret, const char *name, size_t n, const char *suffix)
{
	const char *at;

	n = strnlen(name, MIN(n, MAX_NAME));
	at = n > 1 ? memchr(name + 1, '@', n - 1) : NULL;
	if (asprintf(ret, "%.*s%s", at ? (int)(at - name) : (int)n, name, suffix) < 0)
		return -ENOMEM;
	printable_make(*ret);
	return 0;
}

int symbol_table_new(struct symbol_table **ret)
{
	struct symbol_table *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->demangler = copy_name;
	*ret = t;
	return 0;
}

static void drop_index(struct symbol_table *t)
{
	t->names = name_pages_free(t->names);
	free(t->buckets);
	free(t->outer);
	free(t->sizes);
	free(t->starts);
	t->buckets = NULL;
	t->outer = NULL;
	t->sizes = NULL;
	t->starts = NULL;
	t->n_finalized = 0;
	t->n_buckets = 0;
}

static void drop_blocks(struct symbol_table *t)
{
	for (size_t i = 0; i < t->n_blocks; i++)
		free(t->blocks[i]);
	t->n_blocks = t->block_bytes = 0;
}

struct symbol_table *symbol_table_free(struct symbol_table *t)
{
	if (!t)
		return NULL;
	drop_index(t);
	drop_blocks(t);
	free(t->blocks);
	free(t->packed);
	free(t->entries);
	free(t);
	return NULL;
}

void symbol_table_set_demangler(struct symbol_table *t, symbol_demangler demangler)
{
	t->demangler = demangler;
}

int symbol_table_take_names(struct symbol_table *t, void *names, size_t n)
{
	int r = ARRAY_RESERVE(&t->blocks, &t->cap_blocks, t->n_blocks + 1);

	if (r < 0) {
		free(names);
		return r;
	}
	t->blocks[t->n_blocks++] = names;
	t->block_bytes += n;
	return 0;
}

int symbol_table_add(struct symbol_table *t, const struct symbol_entry *entry)
{
	int r;

	if (entry->start >= entry->limit || t->n >= MAX_SYMBOLS)
		return 0;
	r = ARRAY_RESERVE(&t->entries, &t->cap, t->n + 1);
	if (r < 0)
		return r;
	t->entries[t->n++] = *entry;
	return 0;
}

static size_t leading_underscores(const char *name)
{
	return strspn(name, "_");
}

/* Negative if @a is the better name for one offset. */
static int compare_names(const char *a, const char *b)
{
	size_t na = leading_underscores(a), nb = leading_underscores(b);

	RETURN_UNLESS_EQUAL(COMPARE(na, nb));
	na = strnlen(a, MAX_COMPARED);
	nb = strnlen(b, MAX_COMPARED);
	RETURN_UNLESS_EQUAL(COMPARE(na, nb));
	return strncmp(a, b, MAX_COMPARED);
}

/* By start; of entries with one start the best first. */
static int compare_entries(const void *pa, const void *pb)
{
	const struct symbol_entry *a = pa, *b = pb;

	RETURN_UNLESS_EQUAL(COMPARE(a->start, b->start));
	RETURN_UNLESS_EQUAL(COMPARE(a->label, b->label));
	RETURN_UNLESS_EQUAL(COMPARE(!a->size, !b->size));
	RETURN_UNLESS_EQUAL(COMPARE(b->binding, a->binding));
	RETURN_UNLESS_EQUAL(COMPARE(b->size, a->size));
	return compare_names(a->name, b->name);
}

static void drop_aliases(struct symbol_table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (!n || t->entries[n - 1].start != t->entries[i].start)
			t->entries[n++] = t->entries[i];
	t->n = n;
}

/*
 * Local labels, for example of loops in assembler, do not end a function of unknown size. None is
 * larger than 4 GiB.
 */
static void give_sizes(struct symbol_table *t)
{
	uint64_t next = UINT64_MAX, next_function = UINT64_MAX;

	for (size_t i = t->n; i-- > 0;) {
		struct symbol_entry *e = &t->entries[i];
		uint64_t room = MIN(e->limit - e->start, (uint64_t)UINT32_MAX);

		if (!e->size)
			e->size = (e->label ? next : next_function) - e->start;
		e->size = MIN(e->size, room);
		next = e->start;
		if (!e->label || e->binding == SYMBOL_GLOBAL)
			next_function = e->start;
	}
}

static void drop_labels_in_functions(struct symbol_table *t)
{
	uint64_t end = 0;
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct symbol_entry *e = &t->entries[i];

		if (e->label && e->start < end)
			continue;
		if (!e->label)
			end = MAX(end, e->start + e->size);
		t->entries[n++] = *e;
	}
	t->n = n;
}

/* @open: the symbols around the start of symbol @i, outermost first. */
static void nest(struct symbol_table *t)
{
	uint32_t open[MAX_NESTING];
	bool nested = false;
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		while (n && t->starts[open[n - 1]] + t->sizes[open[n - 1]] <= t->starts[i])
			n--;
		t->outer[i] = n ? open[n - 1] : NO_OUTER;
		nested |= n > 0;
		if (n == MAX_NESTING)
			memmove(open, open + 1, --n * sizeof(open[0]));
		open[n++] = (uint32_t)i;
	}
	if (!nested) {
		free(t->outer);
		t->outer = NULL;
	}
}

static uint32_t outer_of(const struct symbol_table *t, size_t i)
{
	return t->outer ? t->outer[i] : NO_OUTER;
}

static uint64_t bucket_of(const struct symbol_table *t, uint64_t offset)
{
	return (offset - t->starts[0]) >> t->shift;
}

static int divide(struct symbol_table *t)
{
	uint64_t last = t->starts[t->n - 1];
	size_t at = 0;

	for (t->shift = 0; bucket_of(t, last) >= t->n; t->shift++)
		;
	t->n_buckets = bucket_of(t, last) + 1;
	t->buckets = calloc(t->n_buckets + 1, sizeof(*t->buckets));
	if (!t->buckets)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++)
		while (at <= bucket_of(t, t->starts[i]))
			t->buckets[at++] = (uint32_t)i;
	t->buckets[t->n_buckets] = (uint32_t)t->n;
	return 0;
}

static int allocate_index(struct symbol_table *t)
{
	t->starts = calloc(t->n, sizeof(*t->starts));
	t->sizes = calloc(t->n, sizeof(*t->sizes));
	t->outer = calloc(t->n, sizeof(*t->outer));
	t->names = name_pages_new(t->n);
	if (t->starts && t->sizes && t->outer && t->names)
		return 0;
	drop_index(t);
	return -ENOMEM;
}

/* Of starts and sizes. */
static int make_index(struct symbol_table *t)
{
	nest(t);
	if (divide(t) < 0) {
		drop_index(t);
		return -ENOMEM;
	}
	t->n_finalized = t->n;
	return 0;
}

int symbol_table_finalize(struct symbol_table *t)
{
	drop_index(t);
	if (!t->n)
		return 0;
	sort_nearly(t->entries, t->n, sizeof(*t->entries), compare_entries);
	drop_aliases(t);
	give_sizes(t);
	drop_labels_in_functions(t);
	if (allocate_index(t) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++) {
		t->starts[i] = t->entries[i].start;
		t->sizes[i] = (uint32_t)t->entries[i].size;
	}
	return make_index(t);
}

/* The bytes of all names, or more than @max: they may be parts of one long text. */
static size_t count_names(const struct symbol_table *t, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n && n <= max; i++)
		n += strnlen(t->entries[i].name, max - n + 1) + 1;
	return n;
}

/* The names of @t one after the other; @to says where. */
static void copy_names(const struct symbol_table *t, char *text, struct packed *to)
{
	size_t at = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct symbol_entry *e = &t->entries[i];

		to[i] = (struct packed){ (uint32_t)at, (uint8_t)e->binding, e->label, e->stub };
		at = (size_t)(stpcpy(text + at, e->name) - text) + 1;
	}
}

int symbol_table_pack(struct symbol_table *t)
{
	size_t max = t->n_blocks ? MIN(t->block_bytes, (size_t)UINT32_MAX) : UINT32_MAX;
	size_t n = count_names(t, max);
	_cleanup_free_ struct packed *packed = NULL;
	_cleanup_free_ char *text = NULL;
	int r;

	if (n > max)
		return t->n_blocks ? 0 : -ENOMEM;
	packed = calloc(t->n ?: 1, sizeof(*packed));
	text = malloc(n ?: 1);
	if (!packed || !text)
		return -ENOMEM;
	copy_names(t, text, packed);
	drop_blocks(t);
	free(t->entries);
	t->entries = NULL;
	t->cap = 0;
	t->packed = TAKE_PTR(packed);
	t->text = text;
	r = symbol_table_take_names(t, TAKE_PTR(text), n);
	if (r < 0)
		t->n = t->n_finalized = 0;
	return r;
}

int symbol_table_fill(struct symbol_table *t, const struct symbol_row *rows, size_t n, char *text,
		      size_t n_text)
{
	int r = symbol_table_take_names(t, text, n_text);

	if (r < 0 || n == 0)
		return r;
	t->n = n;
	t->text = text;
	t->packed = calloc(n, sizeof(*t->packed));
	if (!t->packed || allocate_index(t) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		t->starts[i] = rows[i].start;
		t->sizes[i] = rows[i].size;
		t->packed[i].name = rows[i].name;
	}
	return make_index(t);
}

size_t symbol_table_count(const struct symbol_table *t)
{
	return t->n_finalized;
}

size_t symbol_table_bytes(const struct symbol_table *t)
{
	return sizeof(*t) + t->cap * sizeof(*t->entries) + t->block_bytes +
	       (t->packed ? t->n * sizeof(*t->packed) : 0) +
	       t->n_finalized * (sizeof(*t->starts) + sizeof(*t->sizes)) +
	       (t->outer ? t->n_finalized * sizeof(*t->outer) : 0) +
	       t->n_buckets * sizeof(*t->buckets);
}

static size_t find_outwards(const struct symbol_table *t, uint64_t offset, size_t i)
{
	for (int depth = 0; depth <= MAX_NESTING; depth++) {
		if (offset - t->starts[i] < t->sizes[i])
			return i;
		if (outer_of(t, i) == NO_OUTER)
			break;
		i = outer_of(t, i);
	}
	return SYMBOL_TABLE_NONE;
}

/* The last symbol that starts at or before @offset, or SYMBOL_TABLE_NONE. */
static size_t find_start(const struct symbol_table *t, uint64_t offset)
{
	size_t low, n;
	uint64_t bucket;

	if (!t->n_finalized || offset < t->starts[0])
		return SYMBOL_TABLE_NONE;
	bucket = MIN(bucket_of(t, offset), (uint64_t)t->n_buckets - 1);
	low = t->buckets[bucket];
	low -= low ? 1 : 0; /* the last symbol of an earlier bucket may reach into this one */
	n = t->buckets[bucket + 1] - low;
	/* finds the last symbol that starts at or before the offset: there is one */
	while (n > 1) {
		size_t half = n / 2;

		low = t->starts[low + half] <= offset ? low + half : low;
		n -= half;
	}
	return low;
}

size_t symbol_table_find(const struct symbol_table *t, uint64_t offset)
{
	size_t i = find_start(t, offset);

	return i == SYMBOL_TABLE_NONE ? i : find_outwards(t, offset, i);
}

size_t symbol_table_find_near(const struct symbol_table *t, uint64_t offset, size_t hint)
{
	if (hint < t->n_finalized && t->starts[hint] <= offset &&
	    (hint + 1 == t->n_finalized || offset < t->starts[hint + 1]))
		return find_outwards(t, offset, hint);
	return symbol_table_find(t, offset);
}

/* No function starts between @offset and the next start; earlier ones may end before @offset. */
void symbol_table_get_range(const struct symbol_table *t, uint64_t offset, size_t i,
			    uint64_t *first, uint64_t *last)
{
	size_t at = find_start(t, offset), next = at == SYMBOL_TABLE_NONE ? 0 : at + 1;

	*first = offset;
	*last = next < t->n_finalized ? t->starts[next] - 1 : UINT64_MAX;
	if (i == SYMBOL_TABLE_NONE) {
		if (at != SYMBOL_TABLE_NONE && outer_of(t, at) == NO_OUTER)
			*first = t->starts[at] + t->sizes[at];
		return;
	}
	if (i == at)
		*first = t->starts[i];
	*last = MIN(*last, t->starts[i] + t->sizes[i] - 1);
}

struct symbol_entry symbol_table_get(const struct symbol_table *t, size_t i)
{
	const struct packed *packed;

	if (t->entries)
		return t->entries[i];
	packed = &t->packed[i];
	return (struct symbol_entry){
		.start = t->starts[i],
		.size = t->sizes[i],
		.limit = t->starts[i] + t->sizes[i],
		.name = t->text + packed->name,
		.binding = packed->binding,
		.label = packed->label,
		.stub = packed->stub,
	};
}

const char *symbol_table_name(struct symbol_table *t, size_t i)
{
	const struct symbol_entry e = symbol_table_get(t, i);
	char **name = name_pages_at(t->names, i);

	if (name && !*name && t->demangler(name, e.name, SIZE_MAX, e.stub ? "@plt" : "") < 0)
		return NULL;
	return name ? *name : NULL;
}
