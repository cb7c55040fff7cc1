/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A small library with one function, whose name may be anything. */
#pragma once

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAGIC_OFFSET 0x1000 /* of the function */
#define MAGIC_SIZE   0x10

struct magic_file {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[4];
	Elf64_Sym symbols[2];
	char names[512];
	_Alignas(MAGIC_OFFSET) unsigned char code[MAGIC_SIZE];
};

/* The descriptor of the file, for reading; also for writing if @flags is O_RDWR. */
static inline int magic_file_make(const char *name, int flags)
{
	static struct magic_file f;
	int memory, fd;
	char path[64];

	f = (struct magic_file){
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_machine = EM_X86_64,
			    .e_version = EV_CURRENT,
			    .e_phoff = offsetof(struct magic_file, segment),
			    .e_shoff = offsetof(struct magic_file, sections),
			    .e_ehsize = sizeof(f.header),
			    .e_phentsize = sizeof(f.segment),
			    .e_phnum = 1,
			    .e_shentsize = sizeof(f.sections[0]),
			    .e_shnum = 4 },
		.segment = { .p_type = PT_LOAD,
			     .p_flags = PF_R | PF_X,
			     .p_filesz = sizeof(f),
			     .p_memsz = sizeof(f) },
		.symbols[1] = { .st_name = 1,
				.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				.st_shndx = 1,
				.st_value = MAGIC_OFFSET,
				.st_size = MAGIC_SIZE },
	};
	f.sections[1] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
				      .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				      .sh_addr = MAGIC_OFFSET,
				      .sh_offset = MAGIC_OFFSET,
				      .sh_size = MAGIC_SIZE };
	f.sections[2] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB,
				      .sh_offset = offsetof(struct magic_file, symbols),
				      .sh_size = sizeof(f.symbols),
				      .sh_link = 3,
				      .sh_info = 1,
				      .sh_entsize = sizeof(f.symbols[0]) };
	f.sections[3] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
				      .sh_offset = offsetof(struct magic_file, names),
				      .sh_size = sizeof(f.names) };
	snprintf(f.names + 1, sizeof(f.names) - 1, "%s", name);
	memset(f.code, 0xc3, sizeof(f.code)); /* ret */

	memory = memfd_create("magic", MFD_CLOEXEC);
	if (memory < 0 || write(memory, &f, sizeof(f)) != sizeof(f))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	fd = open(path, flags | O_CLOEXEC);
	close(memory);
	return fd;
}
