/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * buildid: the GNU build-id of an ELF file, found by the program headers, as the kernel finds it
 * for MMAP2 records.
 *
 * The vDSO is read from this process, where it is the same as in all others.
 * Done by hand so that the simulator shares no ELF code with what it is to test.
 */
#include "tests/simulator/buildid.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define NOTES_BYTES_MAX 4096
#define PHDRS_MAX       64

static size_t align4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static int notes_find(const uint8_t *notes, size_t size, uint8_t id[BUILDID_BYTES_MAX])
{
	const Elf64_Nhdr *note;
	size_t at = 0, desc;

	while (at + sizeof(*note) <= size) {
		note = (const Elf64_Nhdr *)(notes + at);
		desc = at + sizeof(*note) + align4(note->n_namesz);
		at = desc + align4(note->n_descsz);
		if (at > size)
			break;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof(ELF_NOTE_GNU) &&
		    note->n_descsz <= BUILDID_BYTES_MAX) {
			memcpy(id, notes + desc, note->n_descsz);
			return note->n_descsz;
		}
	}
	return -ENOENT;
}

/* Of the ELF file that begins at @base. */
static int file_find(int fd, off_t base, uint8_t id[BUILDID_BYTES_MAX])
{
	_Alignas(8) uint8_t notes[NOTES_BYTES_MAX];
	Elf64_Phdr phdrs[PHDRS_MAX];
	Elf64_Ehdr ehdr;
	ssize_t n;
	int i, r;

	if (pread(fd, &ehdr, sizeof(ehdr), base) != sizeof(ehdr) ||
	    memcmp(ehdr.e_ident, ELFMAG, SELFMAG) || ehdr.e_ident[EI_CLASS] != ELFCLASS64 ||
	    ehdr.e_phnum > PHDRS_MAX)
		return -ENOEXEC;
	n = ehdr.e_phnum * sizeof(*phdrs);
	if (pread(fd, phdrs, n, base + ehdr.e_phoff) != n)
		return -ENOEXEC;
	for (i = 0; i < ehdr.e_phnum; i++) {
		if (phdrs[i].p_type != PT_NOTE || phdrs[i].p_filesz > sizeof(notes))
			continue;
		n = pread(fd, notes, phdrs[i].p_filesz, base + phdrs[i].p_offset);
		r = n > 0 ? notes_find(notes, n, id) : -ENOENT;
		if (r >= 0)
			return r;
	}
	return -ENOENT;
}

static int read_at(const char *path, off_t base, uint8_t id[BUILDID_BYTES_MAX])
{
	int fd, r;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = file_find(fd, base, id);
	close(fd);
	return r;
}

int buildid_read(const char *path, uint8_t id[BUILDID_BYTES_MAX])
{
	return read_at(path, 0, id);
}

int buildid_read_vdso(uint8_t id[BUILDID_BYTES_MAX])
{
	unsigned long base = getauxval(AT_SYSINFO_EHDR);

	return base ? read_at("/proc/self/mem", (off_t)base, id) : -ENOENT;
}
