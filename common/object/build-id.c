/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/object/build-id.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>

#include "common/util/cleanup.h"

static bool take_note(const Elf64_Nhdr *note, const uint8_t *name, const uint8_t *desc,
		      struct build_id *ret)
{
	struct build_id id = { 0 };

	if (note->n_type != NT_GNU_BUILD_ID || note->n_namesz != sizeof(ELF_NOTE_GNU) ||
	    memcmp(name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) || !note->n_descsz)
		return false;
	id.n = note->n_descsz < sizeof(id.bytes) ? note->n_descsz : sizeof(id.bytes);
	memcpy(id.bytes, desc, id.n);
	*ret = id;
	return true;
}

bool build_id_from_notes(const void *notes, size_t n, size_t align, struct build_id *ret)
{
	const uint8_t *p = notes;
	size_t at = 0;

	align = align == 8 ? 8 : 4;
	while (at < n && n - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		size_t name, desc, end;

		/* 32-bit sizes in 64-bit sums: nothing wraps */
		memcpy(&note, p + at, sizeof(note));
		name = at + sizeof(note);
		desc = (name + note.n_namesz + align - 1) & ~(align - 1);
		end = desc + note.n_descsz;
		if (end > n)
			return false;
		if (take_note(&note, p + name, p + desc, ret))
			return true;
		at = (end + align - 1) & ~(align - 1);
	}
	return false;
}

bool build_id_from_notes_file(const char *path, struct build_id *ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	uint8_t notes[4096];
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, notes, sizeof(notes));
	return n > 0 && build_id_from_notes(notes, (size_t)n, 4, ret);
}

bool build_id_equal(const struct build_id *id, const uint8_t *bytes, size_t n)
{
	return id->n == n && !memcmp(id->bytes, bytes, n);
}

const char *build_id_format(char hex[static BUILD_ID_HEX_SIZE], const uint8_t *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";

	if (!n)
		return "none";
	for (size_t i = 0; i < n && i < PROFILE_BUILD_ID_MAX; i++) {
		hex[2 * i] = digits[bytes[i] >> 4];
		hex[2 * i + 1] = digits[bytes[i] & 15];
		hex[2 * i + 2] = 0;
	}
	return hex;
}
