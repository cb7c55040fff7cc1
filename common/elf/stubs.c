/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A stub jumps through a slot; the relocation that fills the slot has the symbol. A stub that
 * pushes an index refers to that relocation of .rela.plt. The slot of an indirect function (in
 * static programs all are) has a relocation with the address of the resolver, which has the
 * function's name.
 */
#include "common/elf/stubs.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/elf/file.h"
#include "common/elf/plt.h"
#include "common/util/array.h"
#include "common/util/compare.h"

struct slot {
	uint64_t address;
	uint64_t symbol;   /* an index of .dynsym; 0: */
	uint64_t resolver; /* the address of the resolver */
};

struct stubs {
	struct elf_file *file;
	struct slot *slots; /* sorted by address */
	size_t n_slots, cap_slots;
	struct slot *lazy; /* as in .rela.plt */
	size_t n_lazy, cap_lazy;
	bool is_lazy; /* of the relocations being read */

	uint64_t *names; /* of the symbols of .dynsym, offsets into: */
	size_t n_names, cap_names;
	char *strings;
	size_t n_strings, n_copied; /* bytes */
};

static int on_dynamic_symbol(const struct elf_symbol *symbol, void *userdata)
{
	struct stubs *s = userdata;
	int r = ARRAY_RESERVE(&s->names, &s->cap_names, s->n_names + 1);

	if (r < 0)
		return r;
	s->names[s->n_names++] = symbol->name;
	return 0;
}

static int read_dynamic_symbols(struct stubs *s)
{
	struct elf_image *image = s->file->image;
	size_t section = elf_image_find_type(image, SHT_DYNSYM);
	int r;

	if (!section)
		return 0;
	r = elf_image_copy_strings(image, image->sections[section].link, &s->strings,
				   &s->n_strings);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return elf_image_for_each_symbol(image, section, on_dynamic_symbol, s);
}

/* True where the relocation writes a function's address to a slot. */
static bool fills_slot(uint16_t machine, uint32_t type)
{
	if (machine == EM_X86_64)
		return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
		       type == R_X86_64_IRELATIVE;
	return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT ||
	       type == R_AARCH64_IRELATIVE;
}

static int on_reloc(const struct elf_reloc *reloc, void *userdata)
{
	struct stubs *s = userdata;
	struct slot slot = {
		.address = reloc->address,
		.symbol = reloc->symbol,
		.resolver = reloc->addend,
	};
	int r = 0;

	if (s->is_lazy)
		r = ARRAY_RESERVE(&s->lazy, &s->cap_lazy, s->n_lazy + 1);
	if (!r)
		r = ARRAY_RESERVE(&s->slots, &s->cap_slots, s->n_slots + 1);
	if (r < 0)
		return r;
	if (s->is_lazy)
		s->lazy[s->n_lazy++] = slot;
	if (fills_slot(s->file->image->machine, reloc->type))
		s->slots[s->n_slots++] = slot;
	return 0;
}

static int compare_slots(const void *pa, const void *pb)
{
	const struct slot *a = pa, *b = pb;

	return COMPARE(a->address, b->address);
}

static int read_slots(struct stubs *s)
{
	struct elf_image *image = s->file->image;

	for (size_t i = 1; i < image->n_sections; i++) {
		const struct elf_section *section = &image->sections[i];
		int r;

		if (section->type != SHT_RELA && section->type != SHT_REL)
			continue;
		s->is_lazy = !s->n_lazy && !strcmp(section->name, ".rela.plt");
		r = elf_image_for_each_reloc(image, i, on_reloc, s);
		if (r < 0)
			return r;
	}
	if (s->n_slots)
		qsort(s->slots, s->n_slots, sizeof(*s->slots), compare_slots);
	return 0;
}

static const struct slot *find_slot(const struct stubs *s, const struct elf_stub *stub)
{
	const struct slot key = { .address = stub->slot };

	if (!stub->slot)
		return stub->push < s->n_lazy ? &s->lazy[stub->push] : NULL;
	return s->n_slots ? bsearch(&key, s->slots, s->n_slots, sizeof(key), compare_slots) : NULL;
}

/* Where the resolver has no name, its address is the name, as in objdump. */
static int name_by_resolver(struct stubs *s, uint64_t address, const char **ret)
{
	uint64_t offset;
	size_t i = SYMBOL_TABLE_NONE;
	char *name;
	int r;

	if (loads_offset(&s->file->loads, address, &offset))
		i = symbol_table_find(s->file->symbols, offset);
	if (i != SYMBOL_TABLE_NONE) {
		*ret = symbol_table_get(s->file->symbols, i).name;
		return 0;
	}
	if (asprintf(&name, "*ABS*+%#jx", (uintmax_t)address) < 0)
		return -ENOMEM;
	r = symbol_table_take_names(s->file->symbols, name, strlen(name) + 1);
	if (!r)
		*ret = name;
	return r;
}

/*
 * The symbol table borrows names. The few of stubs are copied for it, up to twice as much as all
 * strings take, as a function may have two stubs: a file may have many of one long name.
 */
static int copy_name(struct stubs *s, const char *name, const char **ret)
{
	size_t n = strlen(name) + 1;
	char *copy;
	int r;

	if (n > 2 * s->n_strings - s->n_copied)
		return 0;
	copy = strdup(name);
	r = copy ? symbol_table_take_names(s->file->symbols, copy, n) : -ENOMEM;
	if (r < 0)
		return r;
	s->n_copied += n;
	*ret = copy;
	return 0;
}

/* 0 and *@ret, which stays NULL without a name; or -ENOMEM. */
static int name_slot(struct stubs *s, const struct slot *slot, const char **ret)
{
	if (!slot->symbol)
		return slot->resolver ? name_by_resolver(s, slot->resolver, ret) : 0;
	if (slot->symbol >= s->n_names || s->names[slot->symbol] >= s->n_strings)
		return 0;
	return copy_name(s, s->strings + s->names[slot->symbol], ret);
}

static int on_stub(const struct elf_stub *stub, void *userdata)
{
	struct stubs *s = userdata;
	const struct slot *slot = stub->header ? NULL : find_slot(s, stub);
	const char *name = stub->header ? ".plt" : NULL;
	uint64_t start;
	int r;

	r = slot ? name_slot(s, slot, &name) : 0;
	if (r < 0)
		return r;
	if (!name || !*name || !loads_offset(&s->file->loads, stub->address, &start))
		return 0;
	return symbol_table_add(s->file->symbols, &(struct symbol_entry){
							  .start = start,
							  .size = stub->size,
							  .limit = start + stub->size,
							  .name = name,
							  .binding = SYMBOL_GLOBAL,
							  .stub = !stub->header,
						  });
}

static bool is_plt(const struct elf_section *section)
{
	return section->executable &&
	       (!strncmp(section->name, ".plt", 4) || !strcmp(section->name, ".iplt"));
}

static int add_stubs(struct stubs *s)
{
	struct elf_image *image = s->file->image;
	int r;

	r = read_dynamic_symbols(s);
	if (!r)
		r = read_slots(s);
	for (size_t i = 1; i < image->n_sections && !r; i++) {
		const struct elf_section *section = &image->sections[i];
		struct elf_plt plt = {
			.machine = image->machine,
			.address = section->address,
			.entry_size = section->entry_size,
		};

		plt.bytes = is_plt(section) ? elf_image_bytes(image, i, &plt.n) : NULL;
		if (plt.bytes)
			r = elf_plt_for_each_stub(&plt, on_stub, s);
	}
	return r;
}

int elf_stubs_add(struct elf_file *file)
{
	struct stubs s = { .file = file };
	int r = add_stubs(&s);

	free(s.slots);
	free(s.lazy);
	free(s.names);
	free(s.strings);
	return r < 0 ? r : symbol_table_finalize(file->symbols);
}
