/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The hash table keeps its elements in the order in which the files were last seen. */
#include "daemon/binary/open-files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/util/clock.h"

#define FEW_DESCRIPTORS 1024 /* the usual RLIMIT_NOFILE */

struct open_file {
	struct open_file_key key;
	uint64_t seen_us;
	int fd;
	UT_hash_handle hh;
};

_Static_assert(sizeof(struct open_file_key) == 40, "padding would be compared");

struct open_files {
	pthread_mutex_t lock; /* of the table */
	struct open_file *table;
	size_t max_files;
};

static size_t count_descriptors(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (size_t)limit.rlim_cur : FEW_DESCRIPTORS;
}

int open_files_new(struct open_files **ret, size_t max_files)
{
	struct open_files *files = calloc(1, sizeof(*files));

	if (!files)
		return -ENOMEM;
	files->max_files = MIN(max_files, count_descriptors() / 4);
	pthread_mutex_init(&files->lock, NULL);
	*ret = files;
	return 0;
}

static struct open_file *open_file_free(struct open_file *file)
{
	if (!file)
		return NULL;
	if (file->fd >= 0)
		close(file->fd);
	free(file);
	return NULL;
}

struct open_files *open_files_free(struct open_files *files)
{
	if (!files)
		return NULL;
	open_files_drop(files, 0);
	pthread_mutex_destroy(&files->lock);
	free(files);
	return NULL;
}

static struct open_file *find(const struct open_files *files, const struct open_file_key *key)
{
	struct open_file *file;

	HASH_FIND(hh, files->table, key, sizeof(*key), file);
	return file;
}

/* Appends the file. False: no memory. */
static bool put(struct open_files *files, struct open_file *file)
{
	file->seen_us = clock_us(CLOCK_MONOTONIC);
	HASH_ADD(hh, files->table, key, sizeof(file->key), file);
	return file->hh.tbl != NULL;
}

/* Takes out the first file; NULL if the table is empty. */
static struct open_file *take_first(struct open_files *files)
{
	struct open_file *file = files->table;

	if (file)
		HASH_DEL(files->table, file);
	return file;
}

/* Appends a file with @key and without a descriptor. NULL: no memory. */
static struct open_file *add(struct open_files *files, const struct open_file_key *key)
{
	struct open_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->key = *key;
	file->fd = -1;
	return put(files, file) ? file : open_file_free(file);
}

/* Marks the file as seen now. False: it is not in the table. */
static bool see_again(struct open_files *files, const struct open_file_key *key)
{
	struct open_file *file = find(files, key);

	if (!file)
		return false;
	HASH_DEL(files->table, file);
	if (!put(files, file))
		open_file_free(file);
	return true;
}

void open_files_add(struct open_files *files, const struct open_file_key *key, int fd)
{
	struct open_file *oldest = NULL, *file;

	if (files->max_files == 0)
		return;
	pthread_mutex_lock(&files->lock);
	if (!see_again(files, key)) {
		if (HASH_COUNT(files->table) >= files->max_files)
			oldest = take_first(files);
		file = add(files, key);
		if (file)
			file->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	}
	pthread_mutex_unlock(&files->lock);
	open_file_free(oldest);
}

int open_files_open(struct open_files *files, const struct open_file_key *key)
{
	struct open_file *file;
	int fd = -ENOENT;

	pthread_mutex_lock(&files->lock);
	file = find(files, key);
	if (file && file->fd >= 0) {
		fd = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
		fd = fd < 0 ? -errno : fd;
	}
	pthread_mutex_unlock(&files->lock);
	return fd;
}

/* Takes out the first file if it was last seen at @until_us or before; else NULL. */
static struct open_file *take_old(struct open_files *files, uint64_t until_us)
{
	struct open_file *file = NULL;

	pthread_mutex_lock(&files->lock);
	if (files->table && files->table->seen_us <= until_us)
		file = take_first(files);
	pthread_mutex_unlock(&files->lock);
	return file;
}

void open_files_drop(struct open_files *files, uint64_t age_us)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC), until = now - MIN(now, age_us);
	struct open_file *file;

	while ((file = take_old(files, until)))
		open_file_free(file);
}
