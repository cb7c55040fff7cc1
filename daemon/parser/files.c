/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/parser/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elf.h>

#include "common/elf/jit-symbols.h"
#include "common/elf/symbols.h"
#include "common/util/array.h"
#include "daemon/parser/checksum.h"

#define MAX_FILES 512

static void close_file(struct file *file)
{
	lines_free(file->lines);
	elf_file_free(file->elf);
	close(file->fd);
	if (file->debug_fd >= 0)
		close(file->debug_fd);
	*file = (struct file){};
}

void files_done(struct files *files)
{
	for (size_t i = 0; i < files->n; i++)
		if (files->rows[i].number)
			close_file(&files->rows[i]);
	free(files->rows);
}

struct file *files_find(struct files *files, uint32_t number)
{
	for (size_t i = 0; i < files->n; i++)
		if (files->rows[i].number == number)
			return &files->rows[i];
	return NULL;
}

void files_close(struct files *files, uint32_t number)
{
	struct file *file = number ? files_find(files, number) : NULL;

	if (file)
		close_file(file);
}

void files_renew_budgets(struct files *files, uint64_t cpu_us)
{
	for (size_t i = 0; i < files->n; i++)
		files->rows[i].cpu_us = cpu_us;
}

static bool has_bytes(const struct elf_image *image, const char *name)
{
	size_t section = elf_image_find_name(image, name);

	return section && image->sections[section].type != SHT_NOBITS;
}

static bool is_dwarf(const struct elf_image *image)
{
	return has_bytes(image, ".debug_info") || has_bytes(image, ".zdebug_info");
}

/* A free row. */
static struct file *add_row(struct files *files)
{
	struct file *row = files_find(files, 0);

	if (row)
		return row;
	if (files->n == MAX_FILES || ARRAY_RESERVE(&files->rows, &files->cap, files->n + 1) < 0)
		return NULL;
	row = &files->rows[files->n++];
	*row = (struct file){};
	return row;
}

static int read_elf(struct file *file, int copy)
{
	const struct elf_image *image;
	int r = elf_file_open(&file->elf, copy);

	if (r < 0)
		return r;
	image = file->elf->image;
	file->machine = image->machine;
	file->has_symtab = elf_image_find_type(image, SHT_SYMTAB) != 0;
	file->has_dwarf = is_dwarf(image);
	return 0;
}

static int read_jit(struct file *file, int copy)
{
	file->has_symtab = true;
	file->lines_sought = true;
	return jit_symbols_open(&file->elf, copy, &file->n_malformed);
}

int files_open(struct files *files, const struct message_open *request, int fd, struct file **ret)
{
	struct file file = {
		.number = request->file,
		.fd = fd,
		.debug_fd = -1,
		.cpu_us = request->cpu_us,
	};
	struct file *row;
	int r, copy;

	files_close(files, file.number);
	row = file.number && fd >= 0 ? add_row(files) : NULL;
	copy = row ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (copy < 0) {
		close(fd);
		return -EMFILE;
	}
	r = request->content == CONTENT_JIT ? read_jit(&file, copy) : read_elf(&file, copy);
	if (r < 0) {
		close(fd);
		return r;
	}
	*row = file;
	*ret = row;
	return 0;
}

static bool belongs(const struct file *file, const struct elf_image *image, int fd, bool linked)
{
	const struct build_id *mine = &file->elf->build_id;

	if (mine->n && image->build_id.n)
		return build_id_equal(&image->build_id, mine->bytes, mine->n);
	return linked && file->elf->debuglink && checksum_matches(fd, file->elf->debuglink_crc);
}

int files_add_debug(struct file *file, int fd, bool linked)
{
	struct elf_image *image = NULL;
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0), r;

	r = elf_image_open(&image, copy);
	if (r != -ENOMEM && (r < 0 || file->debug_fd >= 0 || !belongs(file, image, fd, linked)))
		r = -ESTALE;
	elf_image_free(image);
	if (r < 0)
		close(fd);
	else
		file->debug_fd = fd;
	return r;
}

static int on_debug_wanted(const struct elf_file *elf, void *userdata)
{
	const struct file *file = userdata;

	return file->debug_fd >= 0 ? fcntl(file->debug_fd, F_DUPFD_CLOEXEC, 0) : -1;
}

int files_read_symbols(struct file *file)
{
	return file->elf->symbols ? 0 : elf_symbols_read(file->elf, on_debug_wanted, file);
}

int files_seek_lines(struct file *file)
{
	int r = -ENODATA;

	if (file->lines_sought)
		return 0;
	if (file->has_dwarf)
		r = lines_open(&file->lines, fcntl(file->fd, F_DUPFD_CLOEXEC, 0));
	if (r == -ENODATA && file->debug_fd >= 0)
		r = lines_open(&file->lines, fcntl(file->debug_fd, F_DUPFD_CLOEXEC, 0));
	file->lines_sought = file->lines || file->debug_fd >= 0;
	return r == -ENOMEM ? r : 0;
}
