/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/symbol/vdso.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

#define VDSO_MAX (256UL << 10)

/* The section headers are the last part of the image. */
static size_t image_size(const uint8_t *image)
{
	Elf64_Ehdr header;

	memcpy(&header, image, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    !header.e_shoff || header.e_shoff > VDSO_MAX)
		return 0;
	return header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
}

static int open_image(struct elf_file **ret)
{
	/* the kernel passes the address as a number */
	const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR); // NOLINT
	size_t n = image ? image_size(image) : 0;

	return !n || n > VDSO_MAX ? -ENOENT : elf_file_open_memory(ret, image, n);
}

int vdso_get_build_id(struct build_id *ret)
{
	_cleanup_(elf_file_freep) struct elf_file *file = NULL;
	int r = open_image(&file);

	if (r < 0)
		return r;
	*ret = file->build_id;
	return ret->n ? 0 : -ENOENT;
}

int vdso_open(const struct profile_object *object, struct elf_file **ret, struct fault *why)
{
	_cleanup_(elf_file_freep) struct elf_file *file = NULL;
	int r;

	if (!object->n_build_id)
		return fault_set(why, -ENOENT, "unknown build-id");
	r = open_image(&file);
	if (r == -ENOMEM)
		return r;
	if (r == -ENOENT)
		return fault_set(why, r, "this machine has no vDSO");
	if (r < 0)
		return fault_set(why, r, "the vDSO of this machine cannot be read");
	if (!build_id_equal(&file->build_id, object->build_id, object->n_build_id))
		return fault_set(why, -ESTALE, "the vDSO of this machine is of another kernel");
	*ret = TAKE_PTR(file);
	return 0;
}
