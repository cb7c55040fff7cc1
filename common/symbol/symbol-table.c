/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An array sorted by start, searched by bisection over the starts alone, which is over within two
 * steps mostly: the offsets are divided into as many stretches as there are symbols, and where each
 * begins in the array is known. Where symbols crowd it is a bisection like any.
 *
 * Functions may nest (a part of one with a name of its own), so each symbol knows the one around
 * it, and a search walks outwards from the last that starts at or before the offset. Files may lie:
 * no more than MAX_NESTING are followed, which bounds a search whatever the table.
 *
 * Of several names of one address: a function rather than a label, one with a size, global over
 * weak over local, fewer leading underscores, shorter, first in the alphabet.
 */
#include "common/symbol/symbol-table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/symbol/demangle.h"
#include "common/util/array.h"
#include "common/util/compare.h"

#define NO_OUTER     UINT32_MAX
#define MAX_NESTING  8
#define MAX_SYMBOLS  (8U << 20)
#define MAX_COMPARED 256 /* bytes of names compared */

/* What is kept of an entry of a packed table, beside where it is. */
struct packed {
	const char *name;
	uint8_t binding;
	bool label, stub;
};

struct symbol_table {
	struct symbol_entry *entries; /* NULL of a packed table */
	struct packed *packed;
	size_t n, cap;

	/* of a sealed table */
	uint64_t *starts, *sizes;
	uint32_t *outer;
	char **names;        /* demangled, of those that were asked for */
	uint32_t *stretches; /* how many symbols start before each; one more than there are */
	size_t n_stretches;
	unsigned int shift; /* a stretch is 1 << shift long */
	size_t n_sealed;

	void **blocks;
	size_t n_blocks, cap_blocks, block_bytes;
};

int symbol_table_new(struct symbol_table **ret)
{
	struct symbol_table *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	*ret = t;
	return 0;
}

static void unseal(struct symbol_table *t)
{
	for (size_t i = 0; t->names && i < t->n_sealed; i++)
		free(t->names[i]);
	free(t->stretches);
	free(t->names);
	free(t->outer);
	free(t->sizes);
	free(t->starts);
	t->stretches = NULL;
	t->names = NULL;
	t->outer = NULL;
	t->sizes = NULL;
	t->starts = NULL;
	t->n_sealed = 0;
	t->n_stretches = 0;
}

struct symbol_table *symbol_table_free(struct symbol_table *t)
{
	if (!t)
		return NULL;
	unseal(t);
	for (size_t i = 0; i < t->n_blocks; i++)
		free(t->blocks[i]);
	free(t->blocks);
	free(t->packed);
	free(t->entries);
	free(t);
	return NULL;
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

/* Which of two names of one address is the better: below zero for the first. */
static int compare_names(const char *a, const char *b)
{
	size_t na = leading_underscores(a), nb = leading_underscores(b);

	RETURN_UNLESS_EQUAL(COMPARE(na, nb));
	na = strnlen(a, MAX_COMPARED);
	nb = strnlen(b, MAX_COMPARED);
	RETURN_UNLESS_EQUAL(COMPARE(na, nb));
	return strncmp(a, b, MAX_COMPARED);
}

/* By start; of those of one start, the better first. */
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

/* A function of unknown size runs across local labels: a loop in assembler is not its end. */
static void give_sizes(struct symbol_table *t)
{
	uint64_t next = UINT64_MAX, next_function = UINT64_MAX;

	for (size_t i = t->n; i-- > 0;) {
		struct symbol_entry *e = &t->entries[i];
		uint64_t room = e->limit - e->start;

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

/* Those that hold the start of entry @i, outermost first, are open; it becomes one of them. */
static void nest(struct symbol_table *t)
{
	uint32_t open[MAX_NESTING];
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		uint64_t start = t->entries[i].start;

		while (n && t->entries[open[n - 1]].start + t->entries[open[n - 1]].size <= start)
			n--;
		t->starts[i] = start;
		t->sizes[i] = t->entries[i].size;
		t->outer[i] = n ? open[n - 1] : NO_OUTER;
		if (n == MAX_NESTING)
			memmove(open, open + 1, --n * sizeof(open[0]));
		open[n++] = (uint32_t)i;
	}
}

static uint64_t stretch_of(const struct symbol_table *t, uint64_t offset)
{
	return (offset - t->starts[0]) >> t->shift;
}

static int divide(struct symbol_table *t)
{
	uint64_t last = t->starts[t->n - 1];
	size_t at = 0;

	for (t->shift = 0; stretch_of(t, last) >= t->n; t->shift++)
		;
	t->n_stretches = stretch_of(t, last) + 1;
	t->stretches = calloc(t->n_stretches + 1, sizeof(*t->stretches));
	if (!t->stretches)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++)
		while (at <= stretch_of(t, t->starts[i]))
			t->stretches[at++] = (uint32_t)i;
	t->stretches[t->n_stretches] = (uint32_t)t->n;
	return 0;
}

int symbol_table_finalize(struct symbol_table *t)
{
	unseal(t);
	if (!t->n)
		return 0;
	qsort(t->entries, t->n, sizeof(*t->entries), compare_entries);
	drop_aliases(t);
	give_sizes(t);
	drop_labels_in_functions(t);
	t->starts = calloc(t->n, sizeof(*t->starts));
	t->sizes = calloc(t->n, sizeof(*t->sizes));
	t->outer = calloc(t->n, sizeof(*t->outer));
	t->names = calloc(t->n, sizeof(*t->names));
	if (!t->starts || !t->sizes || !t->outer || !t->names) {
		unseal(t);
		return -ENOMEM;
	}
	nest(t);
	if (divide(t) < 0) {
		unseal(t);
		return -ENOMEM;
	}
	t->n_sealed = t->n;
	return 0;
}

int symbol_table_pack(struct symbol_table *t)
{
	struct packed *packed = calloc(t->n ?: 1, sizeof(*packed));

	if (!packed)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++) {
		const struct symbol_entry *e = &t->entries[i];

		packed[i] = (struct packed){ e->name, (uint8_t)e->binding, e->label, e->stub };
	}
	free(t->entries);
	t->entries = NULL;
	t->cap = 0;
	t->packed = packed;
	return 0;
}

size_t symbol_table_count(const struct symbol_table *t)
{
	return t->n_sealed;
}

size_t symbol_table_bytes(const struct symbol_table *t)
{
	return sizeof(*t) + t->cap * sizeof(*t->entries) + t->block_bytes +
	       (t->packed ? t->n * sizeof(*t->packed) : 0) +
	       t->n_sealed * (sizeof(*t->starts) + sizeof(*t->sizes) + sizeof(*t->outer)) +
	       t->n_stretches * sizeof(*t->stretches);
}

static size_t find_outwards(const struct symbol_table *t, uint64_t offset, size_t i)
{
	for (int depth = 0; depth <= MAX_NESTING; depth++) {
		if (offset - t->starts[i] < t->sizes[i])
			return i;
		if (t->outer[i] == NO_OUTER)
			break;
		i = t->outer[i];
	}
	return SYMBOL_TABLE_NONE;
}

/* The last that starts at or before @offset, or SYMBOL_TABLE_NONE. */
static size_t find_start(const struct symbol_table *t, uint64_t offset)
{
	size_t low, n;
	uint64_t stretch;

	if (!t->n_sealed || offset < t->starts[0])
		return SYMBOL_TABLE_NONE;
	stretch = MIN(stretch_of(t, offset), (uint64_t)t->n_stretches - 1);
	low = t->stretches[stretch];
	low -= low ? 1 : 0; /* the last of an earlier stretch may reach into this one */
	n = t->stretches[stretch + 1] - low;
	/* ends at the last that starts at or before the offset: there is one */
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
	if (hint < t->n_sealed && t->starts[hint] <= offset &&
	    (hint + 1 == t->n_sealed || offset < t->starts[hint + 1]))
		return find_outwards(t, offset, hint);
	return symbol_table_find(t, offset);
}

/* No other function starts before the next start; those before may end anywhere up to @offset. */
void symbol_table_get_range(const struct symbol_table *t, uint64_t offset, size_t i,
			    uint64_t *first, uint64_t *last)
{
	size_t at = find_start(t, offset), next = at == SYMBOL_TABLE_NONE ? 0 : at + 1;

	*first = offset;
	*last = next < t->n_sealed ? t->starts[next] - 1 : UINT64_MAX;
	if (i == SYMBOL_TABLE_NONE) {
		if (at != SYMBOL_TABLE_NONE && t->outer[at] == NO_OUTER)
			*first = t->starts[at] + t->sizes[at];
		return;
	}
	if (i == at)
		*first = t->starts[i];
	*last = MIN(*last, t->starts[i] + t->sizes[i] - 1);
}

struct symbol_entry symbol_table_get(const struct symbol_table *t, size_t i)
{
	const struct packed *packed = &t->packed[i];

	if (t->entries)
		return t->entries[i];
	return (struct symbol_entry){
		.start = t->starts[i],
		.size = t->sizes[i],
		.limit = t->starts[i] + t->sizes[i],
		.name = packed->name,
		.binding = packed->binding,
		.label = packed->label,
		.stub = packed->stub,
	};
}

const char *symbol_table_name(struct symbol_table *t, size_t i)
{
	const struct symbol_entry e = symbol_table_get(t, i);

	if (!t->names[i] && demangle(&t->names[i], e.name, SIZE_MAX, e.stub ? "@plt" : "") < 0)
		return NULL;
	return t->names[i];
}
