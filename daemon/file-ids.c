/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/file-ids.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/symbol/elf-image.h"
#include "common/util/cleanup.h"

struct file_key {
	uint32_t major, minor;
	uint64_t inode;
};

struct file_id {
	struct file_key key;
	struct build_id id;
	UT_hash_handle hh;
};

struct file_ids {
	struct file_id *files;
};

int file_ids_new(struct file_ids **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

struct file_ids *file_ids_free(struct file_ids *ids)
{
	struct file_id *file, *next;

	if (!ids)
		return NULL;
	HASH_ITER(hh, ids->files, file, next) {
		HASH_DEL(ids->files, file);
		free(file);
	}
	free(ids);
	return NULL;
}

/* Opens what is mapped; by its path if that is still the same file. A descriptor, or -1. */
static int open_mapped(int32_t pid, const struct mapping_event *m)
{
	char path[4096 + 64];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, m->address,
		 m->address + m->n_bytes);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/root%s", pid, m->path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd >= 0 && (fstat(fd, &st) < 0 || st.st_ino != m->inode || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

static struct build_id read_id(int32_t pid, const struct mapping_event *m)
{
	_cleanup_(elf_image_freep) struct elf_image *image = NULL;
	int fd = open_mapped(pid, m);

	if (fd < 0 || elf_image_open(&image, fd) < 0)
		return (struct build_id){ 0 };
	return image->build_id;
}

static struct file_id *add_file(struct file_ids *ids, const struct file_key *key)
{
	struct file_id *file = calloc(1, sizeof(*file));

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

int file_ids_fill(struct file_ids *ids, int32_t pid, struct mapping_event *mapping)
{
	struct file_key key = { mapping->major, mapping->minor, mapping->inode };
	struct file_id *file;

	if (mapping->inode == 0 || mapping->path[0] != '/')
		return 0;
	HASH_FIND(hh, ids->files, &key, sizeof(key), file);
	if (!file) {
		file = add_file(ids, &key);
		if (!file)
			return -ENOMEM;
		file->id = read_id(pid, mapping);
	}
	if (file->id.n == 0)
		return 0;
	memcpy(mapping->build_id, file->id.bytes, sizeof(mapping->build_id));
	mapping->n_build_id = file->id.n;
	mapping->major = mapping->minor = 0;
	mapping->inode = 0;
	return 0;
}
