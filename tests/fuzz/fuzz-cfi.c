/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Call frame information: any bytes as .eh_frame or .debug_frame of a file that is otherwise sound.
 * What comes out is a valid table.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <elf.h>

#include "common/elf/unwind-rows.h"

#define ADDRESS 0x40000000 /* of the section; its functions may lie anywhere around it */
#define CODE    0x80000000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr load;
	Elf64_Shdr sections[3];
	char names[32];
	uint8_t cfi[];
};

static void fill(struct image *image, const uint8_t *data, size_t size, bool eh, bool a64)
{
	image->header = (Elf64_Ehdr){
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = a64 ? EM_AARCH64 : EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = offsetof(struct image, load),
		.e_shoff = offsetof(struct image, sections),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 3,
		.e_shstrndx = 2,
	};
	image->load = (Elf64_Phdr){
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = CODE, .p_memsz = CODE
	};
	strcpy(image->names + 1, eh ? ".eh_frame" : ".debug_frame");
	image->sections[1] = (Elf64_Shdr){
		.sh_name = 1,
		.sh_type = SHT_PROGBITS,
		.sh_flags = eh ? SHF_ALLOC : 0,
		.sh_addr = ADDRESS,
		.sh_offset = offsetof(struct image, cfi),
		.sh_size = size,
		.sh_addralign = 1,
	};
	image->sections[2] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct image, names),
		.sh_size = sizeof(image->names),
		.sh_addralign = 1,
	};
	memcpy(image->cfi, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwind_table table;
	struct elf_image *elf;
	struct image *image;
	int r;

	if (size < 1)
		return 0;
	image = calloc(1, sizeof(*image) + size);
	fill(image, data + 1, size - 1, data[0] & 1, data[0] & 2);
	r = elf_image_open_memory(&elf, image, sizeof(*image) + size - 1);
	free(image);
	if (r < 0)
		abort();
	if (unwind_rows_read(elf, &elf->loads, &table) >= 0) {
		if (!unwind_table_is_valid(&table) || table.n_rows == 0)
			abort();
		unwind_table_done(&table);
	}
	elf_image_free(elf);
	return 0;
}
