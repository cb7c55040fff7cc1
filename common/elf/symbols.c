/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Symbols come from the file's own .symtab. A file without one has them in its separate debug file,
 * or else in .dynsym and the table packed into .gnu_debugdata, which complete each other.
 *
 * Only symbols in executable sections count (in executable segments where there are no section
 * headers), and no symbol reaches beyond its section.
 */
#include "common/elf/symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/elf/demangle.h"
#include "common/elf/stubs.h"
#include "common/util/array.h"
#include "common/util/compare.h"

/* A range of code: a section, or a segment. */
struct region {
	uint64_t address, end, offset;
};

struct reader {
	struct elf_file *file;
	struct region *regions;
	size_t n_regions, cap_regions;
	const char *strings; /* of the table being read */
	size_t n_strings;
};

static int add_region(struct reader *reader, uint64_t address, uint64_t size)
{
	const struct load *l = loads_find(&reader->file->loads, address);
	struct region region;
	int r;

	if (!l || !size)
		return 0;
	region.address = address;
	region.end = address + MIN(size, l->size - (address - l->address));
	region.offset = l->offset + (address - l->address);
	r = ARRAY_RESERVE(&reader->regions, &reader->cap_regions, reader->n_regions + 1);
	if (r < 0)
		return r;
	reader->regions[reader->n_regions++] = region;
	return 0;
}

static int compare_regions(const void *pa, const void *pb)
{
	const struct region *a = pa, *b = pb;

	return COMPARE(a->address, b->address);
}

static int read_regions(struct reader *reader)
{
	const struct elf_image *image = reader->file->image;
	const struct elf_file *file = reader->file;
	int r = 0;

	for (size_t i = 1; i < image->n_sections && !r; i++)
		if (image->sections[i].executable)
			r = add_region(reader, image->sections[i].address, image->sections[i].size);
	for (size_t i = 0; i < file->loads.n && !r && image->n_sections < 2; i++)
		if (file->loads.rows[i].executable)
			r = add_region(reader, file->loads.rows[i].address,
				       file->loads.rows[i].size);
	if (reader->n_regions)
		qsort(reader->regions, reader->n_regions, sizeof(*reader->regions),
		      compare_regions);
	return r;
}

static const struct region *find_region(const struct reader *reader, uint64_t address)
{
	size_t low = 0, n = reader->n_regions;

	while (n > 1) {
		size_t half = n / 2;

		low = reader->regions[low + half].address <= address ? low + half : low;
		n -= half;
	}
	if (!n || address < reader->regions[low].address || address >= reader->regions[low].end)
		return NULL;
	return &reader->regions[low];
}

/* $x, $d and the like mark code and data for disassemblers; they are no functions. */
static bool is_mapping_symbol(const char *name)
{
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

static int on_symbol(const struct elf_symbol *symbol, void *userdata)
{
	struct reader *reader = userdata;
	bool function = symbol->type == STT_FUNC || symbol->type == STT_GNU_IFUNC;
	const struct region *region;
	const char *name;

	if (!symbol->defined || (!function && symbol->type != STT_NOTYPE) ||
	    symbol->name >= reader->n_strings)
		return 0;
	name = reader->strings + symbol->name;
	if (!*name || (!function && is_mapping_symbol(name)))
		return 0;
	region = find_region(reader, symbol->address);
	if (!region)
		return 0;
	return symbol_table_add(
		reader->file->symbols,
		&(struct symbol_entry){
			.start = region->offset + (symbol->address - region->address),
			.size = symbol->size,
			.limit = region->offset + (region->end - region->address),
			.name = name,
			.binding = symbol->bind == STB_LOCAL ? SYMBOL_LOCAL :
				   symbol->bind == STB_WEAK  ? SYMBOL_WEAK :
							       SYMBOL_GLOBAL,
			.label = !function,
		});
}

/* 0, -ENOENT where @image has no such table, or -ENOMEM. */
static int read_table(struct reader *reader, struct elf_image *image, uint32_t type)
{
	size_t section = elf_image_find_type(image, type), n;
	char *strings;
	int r;

	if (!section)
		return -ENOENT;
	r = elf_image_copy_strings(image, image->sections[section].link, &strings, &n);
	if (r < 0)
		return r;
	r = symbol_table_take_names(reader->file->symbols, strings, n);
	if (r < 0)
		return r;
	reader->strings = strings;
	reader->n_strings = n;
	return elf_image_for_each_symbol(image, section, on_symbol, reader);
}

/* 0, -ENOENT where there is no such file or no table in it, or -ENOMEM. */
static int read_debug_file(struct reader *reader, elf_debug_opener open_debug, void *userdata)
{
	_cleanup_(elf_image_freep) struct elf_image *image = NULL;
	int fd = open_debug ? open_debug(reader->file, userdata) : -1;
	int r;

	if (fd < 0)
		return -ENOENT;
	r = elf_image_open(&image, fd);
	if (r < 0)
		return r == -ENOMEM ? r : -ENOENT;
	return read_table(reader, image, SHT_SYMTAB);
}

static int read_small_tables(struct reader *reader)
{
	_cleanup_(elf_image_freep) struct elf_image *packed = NULL;
	int r = read_table(reader, reader->file->image, SHT_DYNSYM);

	if (r == -ENOMEM)
		return r;
	r = elf_image_open_packed(&packed, reader->file->image);
	if (r < 0)
		return r;
	return read_table(reader, packed, SHT_SYMTAB);
}

static int read_tables(struct reader *reader, elf_debug_opener open_debug, void *userdata)
{
	int r;

	r = read_regions(reader);
	if (r < 0)
		return r;
	r = read_table(reader, reader->file->image, SHT_SYMTAB);
	if (r == -ENOENT)
		r = read_debug_file(reader, open_debug, userdata);
	if (r == -ENOENT)
		r = read_small_tables(reader);
	return r == -ENOMEM ? r : 0;
}

int elf_symbols_read(struct elf_file *file, elf_debug_opener open_debug, void *userdata)
{
	struct reader reader = { .file = file };
	int r;

	r = symbol_table_new(&file->symbols);
	if (r < 0)
		return r;
	symbol_table_set_demangler(file->symbols, demangle);
	r = read_tables(&reader, open_debug, userdata);
	free(reader.regions);
	if (!r)
		r = symbol_table_finalize(file->symbols);
	if (!r)
		r = elf_stubs_add(file);
	file->image = elf_image_free(file->image); /* of which the table has copies */
	return r ? r : symbol_table_pack(file->symbols);
}
