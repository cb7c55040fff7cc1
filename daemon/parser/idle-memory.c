/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/parser/idle-memory.h"

#include <link.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Only segments that nobody writes to: their pages are those of the file. */
static int release_object(struct dl_phdr_info *object, size_t size, void *userdata)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	(void)size;
	(void)userdata;
	if (!object->dlpi_name || object->dlpi_name[0] == '\0')
		return 0; /* the program itself: small, and about to go on */
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		uintptr_t start = (object->dlpi_addr + segment->p_vaddr) & ~(page - 1);
		uintptr_t end = object->dlpi_addr + segment->p_vaddr + segment->p_memsz;

		if (segment->p_type == PT_LOAD && !(segment->p_flags & PF_W))
			(void)madvise((void *)start, end - start, MADV_DONTNEED);
	}
	return 0;
}

void idle_memory_release(void)
{
	malloc_trim(0);
	dl_iterate_phdr(release_object, NULL);
}
