/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/symbol/vdso.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define VDSO_MAX (256UL << 10)

/* The kernel passes the address as a number. */
static const uint8_t *find_image(void)
{
	return (const uint8_t *)getauxval(AT_SYSINFO_EHDR); // NOLINT
}

/* The section headers are the last part of the image. */
static size_t image_size(const uint8_t *image)
{
	Elf64_Ehdr header;

	if (!image)
		return 0;
	memcpy(&header, image, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    !header.e_shoff || header.e_shoff > VDSO_MAX)
		return 0;
	return header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
}

int vdso_get_build_id(struct build_id *ret)
{
	const uint8_t *image = find_image();
	size_t n = image_size(image);
	Elf64_Ehdr header;
	Elf64_Phdr part;

	if (!n || n > VDSO_MAX)
		return -ENOENT;
	memcpy(&header, image, sizeof(header));
	for (size_t i = 0; i < header.e_phnum; i++) {
		size_t at = header.e_phoff + i * sizeof(part);

		if (at + sizeof(part) > n)
			break;
		memcpy(&part, image + at, sizeof(part));
		if (part.p_type == PT_NOTE && part.p_offset <= n &&
		    part.p_filesz <= n - part.p_offset &&
		    build_id_from_notes(image + part.p_offset, part.p_filesz, part.p_align, ret))
			return 0;
	}
	return -ENOENT;
}

/* A copy of the image, for the parser. */
static int copy_image(void)
{
	const uint8_t *image = find_image();
	size_t n = image_size(image);
	int fd = memfd_create("vdso", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (write(fd, image, n) == (ssize_t)n)
		return fd;
	close(fd);
	return -EIO;
}

int vdso_open(struct parser *parser, const struct profile_object *object, struct parser_file **ret,
	      struct fault *why)
{
	struct build_id id;
	int fd;

	if (object && !object->n_build_id)
		return fault_set(why, -ENOENT, "unknown build-id");
	if (vdso_get_build_id(&id) < 0)
		return fault_set(why, -ENOENT, "this machine has no vDSO");
	if (object && !build_id_equal(&id, object->build_id, object->n_build_id))
		return fault_set(why, -ESTALE, "the vDSO of this machine is of another kernel");
	fd = copy_image();
	if (fd < 0)
		return fault_set(why, fd, "the vDSO of this machine cannot be read");
	return parser_open(parser, fd, 0, ret, why);
}
