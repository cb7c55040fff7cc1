/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/binary/build-ids.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/elf/image.h"
#include "common/symbol/vdso.h"
#include "common/util/cleanup.h"
#include "daemon/binary/process-file.h"

#define MAX_FILES 8192 /* remembered; one more, and all are forgotten */

struct file_key {
	uint32_t major, minor;
	uint64_t inode;
};

struct file_id {
	struct file_key key;
	struct timespec changed;
	off_t n_bytes;
	struct build_id id;
	UT_hash_handle hh;
};

struct build_ids {
	struct file_id *files;
	struct build_id vdso;          /* of 64-bit processes */
	struct open_files *open_files; /* or NULL */
};

int build_ids_new(struct build_ids **ret)
{
	struct build_ids *ids = calloc(1, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	if (vdso_get_build_id(&ids->vdso) < 0)
		ids->vdso.n = 0;
	*ret = ids;
	return 0;
}

void build_ids_keep_open(struct build_ids *ids, struct open_files *open_files)
{
	ids->open_files = open_files;
}

static void forget_all(struct build_ids *ids)
{
	struct file_id *file, *next;

	HASH_ITER(hh, ids->files, file, next) {
		HASH_DEL(ids->files, file);
		free(file);
	}
}

struct build_ids *build_ids_free(struct build_ids *ids)
{
	if (!ids)
		return NULL;
	forget_all(ids);
	free(ids);
	return NULL;
}

/* Whether @fd is the mapped file; fills *@ret_st. Closes @fd if it is not. */
static bool is_mapped(int fd, const struct mapping_event *m, struct stat *ret_st)
{
	if (fd < 0)
		return false;
	if (fstat(fd, ret_st) == 0 && ret_st->st_ino == m->inode)
		return true;
	close(fd);
	return false;
}

/*
 * Opens a mapped file: by its range of addresses; by its path as the process sees it; or, once the
 * process has gone, as process 1 sees it. The last two count only if the inode is the same. A
 * descriptor and *@ret_st, or -1.
 */
static int open_mapped(int32_t pid, const struct mapping_event *m, struct stat *ret_st)
{
	int fd = process_file_open_range(pid, m->address, m->address + m->n_bytes);

	if (is_mapped(fd, m, ret_st))
		return fd;
	fd = process_file_open(pid, m->path);
	if (is_mapped(fd, m, ret_st))
		return fd;
	fd = process_file_open(1, m->path);
	return is_mapped(fd, m, ret_st) ? fd : -1;
}

static struct build_id read_id(int fd)
{
	_cleanup_(elf_image_freep) struct elf_image *image = NULL;

	if (elf_image_open(&image, fcntl(fd, F_DUPFD_CLOEXEC, 0)) < 0)
		return (struct build_id){ 0 };
	return image->build_id;
}

static struct file_id *add_file(struct build_ids *ids, const struct file_key *key)
{
	struct file_id *file;

	if (HASH_COUNT(ids->files) >= MAX_FILES)
		forget_all(ids);
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->key = *key;
	HASH_ADD(hh, ids->files, key, sizeof(file->key), file);
	if (!file->hh.tbl) {
		free(file);
		return NULL;
	}
	return file;
}

static bool is_unchanged(const struct file_id *file, const struct stat *st)
{
	return file->n_bytes == st->st_size && file->changed.tv_sec == st->st_ctim.tv_sec &&
	       file->changed.tv_nsec == st->st_ctim.tv_nsec;
}

/*
 * The file with this key, if it is known, our own path still leads to it and it has not changed.
 * One stat() suffices for most mappings of short-lived programs.
 */
static struct file_id *find_unchanged(const struct build_ids *ids, const struct file_key *key,
				      const char *path)
{
	struct file_id *file;
	struct stat st;

	HASH_FIND(hh, ids->files, key, sizeof(*key), file);
	if (!file || stat(path, &st) < 0 || st.st_ino != key->inode || !is_unchanged(file, &st))
		return NULL;
	return file;
}

/* The entry of the file at @fd, which is read if it is new or has changed. NULL: no memory. */
static struct file_id *find_file(struct build_ids *ids, const struct file_key *key, int fd,
				 const struct stat *st)
{
	struct file_id *file;

	HASH_FIND(hh, ids->files, key, sizeof(*key), file);
	if (file && is_unchanged(file, st))
		return file;
	if (!file)
		file = add_file(ids, key);
	if (!file)
		return NULL;
	file->changed = st->st_ctim;
	file->n_bytes = st->st_size;
	file->id = read_id(fd);
	return file;
}

static void keep_open(const struct build_ids *ids, const struct file_id *file, int fd)
{
	struct open_file_key key = { 0 };

	if (!ids->open_files)
		return;
	if (file->id.n > 0) {
		memcpy(key.build_id, file->id.bytes, file->id.n);
		key.n_build_id = file->id.n;
	} else {
		key.major = file->key.major;
		key.minor = file->key.minor;
		key.inode = file->key.inode;
	}
	open_files_add(ids->open_files, &key, fd);
}

static int open_and_find(struct build_ids *ids, int32_t pid, const struct mapping_event *mapping,
			 const struct file_key *key, struct file_id **ret)
{
	struct stat st;
	_cleanup_close_ int fd = open_mapped(pid, mapping, &st);

	*ret = NULL;
	if (fd < 0)
		return 0;
	*ret = find_file(ids, key, fd, &st);
	if (!*ret)
		return -ENOMEM;
	keep_open(ids, *ret, fd);
	return 0;
}

static void fill(struct mapping_event *mapping, const struct build_id *id)
{
	memcpy(mapping->build_id, id->bytes, sizeof(mapping->build_id));
	mapping->n_build_id = id->n;
	mapping->major = mapping->minor = 0;
	mapping->inode = 0;
}

/* All 64-bit processes share one vdso. 32-bit processes have another one, below 4 GiB. */
static bool is_vdso(const struct mapping_event *mapping)
{
	return strcmp(mapping->path, "[vdso]") == 0 && mapping->address >> 32 != 0;
}

int build_ids_fill(struct build_ids *ids, int32_t pid, struct mapping_event *mapping)
{
	struct file_key key = { mapping->major, mapping->minor, mapping->inode };
	struct file_id *file;
	int r = 0;

	if (is_vdso(mapping))
		fill(mapping, &ids->vdso);
	if (mapping->inode == 0 || mapping->n_build_id > 0 || mapping->path[0] != '/')
		return 0;
	file = find_unchanged(ids, &key, mapping->path);
	if (!file)
		r = open_and_find(ids, pid, mapping, &key, &file);
	if (!file || file->id.n == 0)
		return r;
	fill(mapping, &file->id);
	return 0;
}
