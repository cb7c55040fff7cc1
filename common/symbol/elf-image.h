/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An ELF file's parts as plain data: segments, sections, symbols, relocations.
 *
 * Everything comes from files anybody can write. Sizes and offsets are checked here; that values
 * make sense together is the caller's to doubt. Addresses are the file's own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/symbol/build-id.h"
#include "common/util/macro.h"

struct elf_load {
	uint64_t offset, address;
	uint64_t size; /* in the file */
	uint64_t memory_size;
	bool executable;
};

struct elf_section {
	const char *name; /* borrowed from the image */
	uint32_t type;    /* SHT_* */
	uint32_t link;    /* an index of the table */
	uint64_t offset, address, size, entry_size;
	bool executable; /* loaded, and code */
};

struct elf_symbol {
	uint64_t address, size;
	uint64_t name; /* an offset into the table's strings */
	uint8_t type;  /* STT_* */
	uint8_t bind;  /* STB_* */
	bool defined;  /* in a section */
};

struct elf_reloc {
	uint64_t address;
	uint64_t addend;
	uint64_t symbol; /* an index of the symbol table that the section links to; 0 for none */
	uint32_t type;   /* R_* */
};

struct elf_image {
	uint16_t machine; /* EM_* */
	struct build_id build_id;
	struct elf_load *loads;
	struct elf_section *sections; /* [0] is the empty one, as in the file */
	size_t n_loads, n_sections;

	void *elf;
	uint8_t *memory; /* what it is read from, else NULL and */
	size_t n_memory;
	int fd;
	uint64_t n_read; /* bytes of sections */
};

/*
 * Opens an executable or a shared library. Takes @fd in any case. 0, -ENOEXEC if it is no such file
 * or damaged, -ENOMEM, or what reading it gave.
 */
int elf_image_open(struct elf_image **ret, int fd);
/* The same of @n bytes in memory, which are copied. */
int elf_image_open_memory(struct elf_image **ret, const void *bytes, size_t n);
/* The image packed into @image's .gnu_debugdata; -ENOENT if there is none. */
int elf_image_open_packed(struct elf_image **ret, struct elf_image *image);
struct elf_image *elf_image_free(struct elf_image *image);
DEFINE_CLEANUP(struct elf_image *, elf_image_free);

/* The section of that name or that type, else 0. */
size_t elf_image_find_section(const struct elf_image *image, const char *name);
size_t elf_image_find_type(const struct elf_image *image, uint32_t type);

/* The bytes of a section, borrowed from the image; NULL where it has none in the file. */
const uint8_t *elf_image_bytes(struct elf_image *image, size_t section, size_t *ret_n);

/*
 * A copy of a string table, ended by a zero byte whatever it holds, for the caller to free.
 * 0, -ENOENT where the section is none, or -ENOMEM.
 */
int elf_image_copy_strings(struct elf_image *image, size_t section, char **ret, size_t *ret_n);

/* Handlers return 0, or a negative errno that ends the loop and is its result. */
typedef int (*elf_symbol_handler)(const struct elf_symbol *symbol, void *userdata);
int elf_image_for_each_symbol(struct elf_image *image, size_t section, elf_symbol_handler handler,
			      void *userdata);

typedef int (*elf_reloc_handler)(const struct elf_reloc *reloc, void *userdata);
int elf_image_for_each_reloc(struct elf_image *image, size_t section, elf_reloc_handler handler,
			     void *userdata);

/* The name of a separate debug file and its checksum; false where the image names none. */
bool elf_image_debuglink(struct elf_image *image, const char **ret_name, uint32_t *ret_crc);
