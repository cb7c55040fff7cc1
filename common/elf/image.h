/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of an ELF file as plain data: segments, sections, symbols, relocations.
 *
 * Anybody can write these files. This module checks sizes and offsets; callers check whether values
 * are consistent with each other. Addresses are those of the file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/object/build-id.h"
#include "common/object/loads.h"
#include "common/util/macro.h"

struct elf_section {
	const char *name; /* borrowed from the image */
	uint32_t type;    /* SHT_* */
	uint32_t link;    /* an index of the table */
	uint64_t offset, address, size, entry_size;
	bool executable; /* loaded code */
};

struct elf_symbol {
	uint64_t address, size;
	uint64_t name; /* an offset into the table's strings */
	uint8_t type;  /* STT_* */
	uint8_t bind;  /* STB_* */
	bool defined;  /* has a section */
};

struct elf_reloc {
	uint64_t address;
	uint64_t addend;
	uint64_t symbol; /* an index of the symbol table that the section links to; 0: none */
	uint32_t type;   /* R_* */
};

struct elf_image {
	uint16_t machine; /* EM_* */
	struct build_id build_id;
	struct loads loads;
	struct elf_section *sections; /* [0] is empty, as in the file */
	size_t n_sections;

	void *elf;
	uint8_t *memory; /* the source, or NULL if it is @fd */
	size_t n_memory;
	int fd;
	uint64_t n_read; /* bytes of sections read so far */
};

/*
 * Opens an executable or a shared library. Takes @fd in any case. 0; -ENOEXEC if it is no such file
 * or damaged; -ENOMEM; or the error of reading it.
 */
int elf_image_open(struct elf_image **ret, int fd);
/* The same for @n bytes in memory, which are copied. */
int elf_image_open_memory(struct elf_image **ret, const void *bytes, size_t n);
/* Opens the image packed into @image's .gnu_debugdata; -ENOENT if there is none. */
int elf_image_open_packed(struct elf_image **ret, struct elf_image *image);
struct elf_image *elf_image_free(struct elf_image *image);
DEFINE_CLEANUP(struct elf_image *, elf_image_free);

/* The index of the first section with a name, or of a type; 0 if there is none. */
size_t elf_image_find_name(const struct elf_image *image, const char *name);
size_t elf_image_find_type(const struct elf_image *image, uint32_t type);

/*
 * Lets two sections change places, for this process; those that link to them still link to the
 * place. Before their bytes are asked for. False, and nothing has changed, if it cannot be done.
 */
bool elf_image_swap(struct elf_image *image, size_t a, size_t b);

/* The bytes of a section, borrowed from the image; NULL if it has none in the file. */
const uint8_t *elf_image_bytes(struct elf_image *image, size_t section, size_t *ret_n);

/* Copies @n bytes at @offset of the file. 0, or -ENOENT if it does not have them. */
int elf_image_read(const struct elf_image *image, uint64_t offset, void *to, size_t n);

/*
 * A copy of a string table, always terminated by a zero byte, for the caller to free. 0; -ENOENT if
 * the section is no string table; or -ENOMEM.
 */
int elf_image_copy_strings(struct elf_image *image, size_t section, char **ret, size_t *ret_n);

/* A handler returns 0, or a negative errno, which ends the loop and becomes its result. */
typedef int (*elf_symbol_handler)(const struct elf_symbol *symbol, void *userdata);
int elf_image_for_each_symbol(struct elf_image *image, size_t section, elf_symbol_handler handler,
			      void *userdata);

typedef int (*elf_reloc_handler)(const struct elf_reloc *reloc, void *userdata);
int elf_image_for_each_reloc(struct elf_image *image, size_t section, elf_reloc_handler handler,
			     void *userdata);

/* The name and the checksum of the separate debug file; false if the image names none. */
bool elf_image_debuglink(struct elf_image *image, const char **ret_name, uint32_t *ret_crc);
