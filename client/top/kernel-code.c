/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/top/kernel-code.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"

#define MAX_SEGMENTS 4096

/* "ffffffff81000000 T _text", "ffffffffc0000000 t init	[module]" */
static bool is_at(const char *line, uint64_t address, const char *name, size_t n)
{
	const char *at;
	char *end;

	if (strtoull(line, &end, 16) != address || end[0] != ' ' || !end[1] || end[2] != ' ')
		return false;
	at = end + 3;
	return strcspn(at, "\t\n") == n && strncmp(at, name, n) == 0;
}

static bool begins_at(const char *kallsyms, uint64_t address, const char *name)
{
	_cleanup_fclose_ FILE *f = fopen(kallsyms, "re");
	_cleanup_free_ char *line = NULL;
	size_t cap = 0, n = strlen(name);
	bool found = false;

	while (f && address != 0 && !found && getline(&line, &cap, f) > 0)
		found = is_at(line, address, name, n);
	return found;
}

/* The segment of memory with @address. */
static bool find_segment(int fd, const Elf64_Ehdr *head, uint64_t address, Elf64_Phdr *ret)
{
	for (uint64_t i = 0; i < head->e_phnum && i < MAX_SEGMENTS; i++) {
		const uint64_t at = head->e_phoff + i * sizeof(*ret);

		if (at > INT64_MAX || pread(fd, ret, sizeof(*ret), (off_t)at) != sizeof(*ret))
			return false;
		if (ret->p_type == PT_LOAD && address >= ret->p_vaddr &&
		    address - ret->p_vaddr < ret->p_filesz)
			return true;
	}
	return false;
}

static bool is_core(int fd, Elf64_Ehdr *head)
{
	return pread(fd, head, sizeof(*head), 0) == sizeof(*head) &&
	       memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
	       head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_phentsize == sizeof(Elf64_Phdr);
}

static int read_memory(int fd, uint64_t address, void *ret, size_t n, uint16_t *ret_machine)
{
	uint64_t at;
	Elf64_Ehdr head;
	Elf64_Phdr segment;
	ssize_t r;

	if (!is_core(fd, &head) || !find_segment(fd, &head, address, &segment))
		return 0;
	n = (size_t)MIN((uint64_t)n, segment.p_filesz - (address - segment.p_vaddr));
	at = segment.p_offset + (address - segment.p_vaddr);
	if (at > INT64_MAX)
		return 0;
	r = pread(fd, ret, MIN(n, (size_t)INT_MAX), (off_t)at);
	*ret_machine = head.e_machine;
	return (int)MAX(r, (ssize_t)0);
}

int kernel_code_read(const struct kernel_code_files *files, const char *name, uint64_t address,
		     void *ret, size_t n, uint16_t *ret_machine)
{
	const char *kcore = files && files->kcore ? files->kcore : "/proc/kcore";
	const char *kallsyms = files && files->kallsyms ? files->kallsyms : "/proc/kallsyms";
	_cleanup_close_ int fd = open(kcore, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return errno == EACCES || errno == EPERM ? -EACCES : 0;
	return begins_at(kallsyms, address, name) ? read_memory(fd, address, ret, n, ret_machine) :
						    0;
}
