/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The head of an ELF file in memory that is otherwise one section, whose contents follow it. */
#pragma once

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct elf_head {
	Elf64_Ehdr header;
	Elf64_Phdr load;
	Elf64_Shdr sections[3]; /* none, the one, and that of names */
	char names[32];
};

/* @code_bytes from address 0 are executable. The section follows @head; its address is 0. */
static inline void elf_head_init(struct elf_head *head, uint16_t machine, uint64_t code_bytes,
				 const char *section, uint64_t section_bytes)
{
	*head = (struct elf_head){
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					 ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_machine = machine,
			    .e_version = EV_CURRENT,
			    .e_phoff = offsetof(struct elf_head, load),
			    .e_shoff = offsetof(struct elf_head, sections),
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 1,
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = 3,
			    .e_shstrndx = 2 },
		.load = { .p_type = PT_LOAD,
			  .p_flags = PF_R | PF_X,
			  .p_filesz = code_bytes,
			  .p_memsz = code_bytes },
	};
	strncpy(head->names + 1, section, sizeof(head->names) - 2);
	head->sections[1] = (Elf64_Shdr){ .sh_name = 1,
					  .sh_type = SHT_PROGBITS,
					  .sh_flags = SHF_ALLOC,
					  .sh_offset = sizeof(*head),
					  .sh_size = section_bytes,
					  .sh_addralign = 1 };
	head->sections[2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
					  .sh_offset = offsetof(struct elf_head, names),
					  .sh_size = sizeof(head->names),
					  .sh_addralign = 1 };
}
