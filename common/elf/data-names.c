/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An entry of the global offset table is named by the relocation that fills it in: by its symbol,
 * or, where it has the address alone, by what is at that address. All other addresses are named by
 * the symbol around them; by the last symbol before them in their section, if its size is unknown,
 * as in assembler code; or else by their section.
 */
#include "common/elf/data-names.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/elf/demangle.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

/* A name that is looked for, and the best symbol until now. */
struct query {
	struct elf_data_name *name;
	uint64_t wanted; /* the address to name: that of @name, or the one in its slot */
	uint64_t symbol; /* of the relocation, an index of .dynsym; 0: none */

	const char *best; /* borrowed from the strings of its table */
	uint64_t start, size;
	uint8_t bind;
};

struct finder {
	struct elf_image *image;
	struct query *queries; /* sorted by @wanted */
	size_t n;
	const char *strings; /* of the table being read */
	size_t n_strings;
	uint64_t index; /* of the symbol being read */
};

static int compare_queries(const void *pa, const void *pb)
{
	const struct query *a = pa, *b = pb;

	return COMPARE(a->wanted, b->wanted) ?: COMPARE(a->name, b->name);
}

/* The first query for @address or what follows it. */
static size_t first_query(const struct finder *f, uint64_t address)
{
	size_t low = 0, high = f->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->queries[middle].wanted < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The loaded section around @address, or 0. The one of thread-local zeroes takes no addresses. */
static size_t find_section(const struct elf_image *image, uint64_t address)
{
	for (size_t i = 1; i < image->n_sections; i++) {
		const struct elf_section *s = &image->sections[i];

		if (s->address && address >= s->address && address - s->address < s->size &&
		    strcmp(s->name, ".tbss"))
			return i;
	}
	return 0;
}

static bool is_got(const struct elf_image *image, uint64_t address)
{
	const struct elf_section *s = &image->sections[find_section(image, address)];

	return s->address && !strncmp(s->name, ".got", 4);
}

/* True where the relocation's addend is the address that goes to the slot, or of its resolver. */
static bool has_address(const struct elf_image *image, uint32_t type)
{
	if (image->machine == EM_X86_64)
		return type == R_X86_64_RELATIVE || type == R_X86_64_IRELATIVE;
	return type == R_AARCH64_RELATIVE || type == R_AARCH64_IRELATIVE;
}

/* The queries stay in their order until all relocations were read. */
static int on_reloc(const struct elf_reloc *reloc, void *userdata)
{
	struct finder *f = userdata;

	for (size_t i = first_query(f, reloc->address);
	     i < f->n && f->queries[i].wanted == reloc->address; i++) {
		struct query *q = &f->queries[i];

		if (!is_got(f->image, reloc->address))
			break;
		q->symbol = reloc->symbol;
		q->name->is_slot = reloc->symbol || has_address(f->image, reloc->type);
		q->start = reloc->addend;
	}
	return 0;
}

static int read_relocations(struct finder *f)
{
	int r = 0;

	for (size_t i = 1; i < f->image->n_sections && !r; i++)
		if (f->image->sections[i].type == SHT_RELA || f->image->sections[i].type == SHT_REL)
			r = elf_image_for_each_reloc(f->image, i, on_reloc, f);
	for (size_t i = 0; i < f->n; i++) {
		struct query *q = &f->queries[i];

		if (q->name->is_slot && !q->symbol)
			q->wanted = q->start;
		q->start = 0;
	}
	qsort(f->queries, f->n, sizeof(*f->queries), compare_queries);
	return r;
}

static const char *name_of(const struct finder *f, const struct elf_symbol *symbol)
{
	return symbol->name < f->n_strings ? f->strings + symbol->name : "";
}

static int on_dynamic_symbol(const struct elf_symbol *symbol, void *userdata)
{
	struct finder *f = userdata;
	uint64_t index = f->index++;

	for (size_t i = 0; i < f->n && index; i++)
		if (f->queries[i].symbol == index)
			f->queries[i].best = name_of(f, symbol);
	return 0;
}

/* How much a symbol says: one around the address more than one before it. */
static bool is_better(const struct query *q, const struct elf_symbol *symbol)
{
	if (!q->best || !q->size != !symbol->size)
		return !q->best || symbol->size;
	if (q->start != symbol->address)
		return symbol->address > q->start;
	return q->bind == STB_LOCAL && symbol->bind != STB_LOCAL;
}

static bool may_name_data(const struct elf_symbol *symbol)
{
	return symbol->defined && (symbol->type == STT_OBJECT || symbol->type == STT_FUNC ||
				   symbol->type == STT_GNU_IFUNC || symbol->type == STT_NOTYPE);
}

/* One past the last address that the symbol may name. */
static uint64_t end_of(const struct elf_image *image, const struct elf_symbol *symbol)
{
	const struct elf_section *s;

	if (symbol->size)
		return symbol->address + MIN(symbol->size, UINT64_MAX - symbol->address);
	s = &image->sections[find_section(image, symbol->address)];
	return s->address ? s->address + MIN(s->size, UINT64_MAX - s->address) : symbol->address;
}

static int on_symbol(const struct elf_symbol *symbol, void *userdata)
{
	struct finder *f = userdata;
	size_t i = first_query(f, symbol->address);
	const char *name = name_of(f, symbol);
	uint64_t end;

	if (i == f->n || !*name || *name == '$' || !may_name_data(symbol))
		return 0;
	end = end_of(f->image, symbol);
	for (; i < f->n && f->queries[i].wanted < end; i++) {
		struct query *q = &f->queries[i];

		if (q->symbol || !is_better(q, symbol))
			continue;
		q->best = name;
		q->start = symbol->address;
		q->size = symbol->size;
		q->bind = symbol->bind;
	}
	return 0;
}

/* *@ret holds the names of the symbols. 0, -ENOENT where @image has no such table, or -ENOMEM. */
static int read_table(struct finder *f, struct elf_image *image, uint32_t type,
		      elf_symbol_handler handler, char **ret)
{
	size_t section = image ? elf_image_find_type(image, type) : 0;
	int r;

	if (!section)
		return -ENOENT;
	r = elf_image_copy_strings(image, image->sections[section].link, ret, &f->n_strings);
	if (r < 0)
		return r;
	f->strings = *ret;
	f->index = 0;
	return elf_image_for_each_symbol(image, section, handler, f);
}

/* 0 or -ENOMEM. */
static int fill_in(struct finder *f)
{
	int r = 0;

	for (size_t i = 0; i < f->n && !r; i++) {
		struct query *q = &f->queries[i];

		if (!q->best || q->name->name)
			continue;
		r = demangle(&q->name->name, q->best, strlen(q->best), "");
		q->name->offset = q->symbol ? 0 : q->wanted - q->start;
	}
	return r;
}

static int name_by_sections(struct finder *f)
{
	for (size_t i = 0; i < f->n; i++) {
		struct elf_data_name *name = f->queries[i].name;
		size_t section = find_section(f->image, name->address);

		if (name->name || !section)
			continue;
		name->is_slot = false;
		name->offset = name->address - f->image->sections[section].address;
		if (demangle(&name->name, f->image->sections[section].name, DEMANGLE_MAX, "") < 0)
			return -ENOMEM;
	}
	return 0;
}

static int find_names(struct finder *f, struct elf_image *debug)
{
	_cleanup_free_ char *dynamic = NULL;
	_cleanup_free_ char *strings = NULL;
	int r;

	r = read_relocations(f);
	if (!r)
		r = read_table(f, f->image, SHT_DYNSYM, on_dynamic_symbol, &dynamic);
	if (r != -ENOMEM)
		r = read_table(f, f->image, SHT_SYMTAB, on_symbol, &strings);
	if (r == -ENOENT)
		r = read_table(f, debug, SHT_SYMTAB, on_symbol, &strings);
	if (r == -ENOENT)
		r = read_table(f, f->image, SHT_DYNSYM, on_symbol, &strings);
	if (r != -ENOMEM)
		r = fill_in(f);
	return r ?: name_by_sections(f);
}

int elf_data_names_find(struct elf_image *image, struct elf_image *debug,
			struct elf_data_name *names, size_t n)
{
	_cleanup_free_ struct query *queries = NULL;
	struct finder f = { .image = image, .n = n };

	if (ARRAY_ALLOCATE(&queries, n) < 0)
		return -ENOMEM;
	f.queries = queries;
	for (size_t i = 0; i < n; i++)
		queries[i] = (struct query){ .name = &names[i], .wanted = names[i].address };
	qsort(queries, n, sizeof(*queries), compare_queries);
	return find_names(&f, debug);
}
