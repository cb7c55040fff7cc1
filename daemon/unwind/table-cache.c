/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A new file gets its name when it is complete, so that none is half there after a kill. None is
 * synchronized with the disk: a crash of the machine may damage it, which its checksum tells.
 */
#include "daemon/unwind/table-cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/unwind/table-file.h"
#include "daemon/unwind/table-name.h"

#define NEW_FILE "new.part"

struct entry {
	struct table_name name;
	uint64_t n_bytes, used_ns;
};

struct table_cache {
	int directory;
	uint64_t max_bytes;
	size_t max_files;
	struct entry *entries;
	size_t n, cap;
	uint64_t n_bytes;
	struct table_cache_counts counts;
};

/* Other threads read the counts. */
static void set_count(uint64_t *count, uint64_t value)
{
	__atomic_store_n(count, value, __ATOMIC_RELAXED);
}

static void count_up(uint64_t *count)
{
	set_count(count, *count + 1);
}

static void publish_size(struct table_cache *cache)
{
	set_count(&cache->counts.files, cache->n);
	set_count(&cache->counts.bytes, cache->n_bytes);
}

/* Of the file, or else of another one with that build-id, unless @id is NULL. */
static struct entry *find_entry(struct table_cache *cache, const struct build_id *id,
				const struct file_identity *file)
{
	struct entry *found = NULL;

	for (size_t i = 0; i < cache->n; i++) {
		struct entry *entry = &cache->entries[i];

		if (file_identity_equal(&entry->name.file, file))
			return entry;
		if (id && build_id_equal(&entry->name.id, id->bytes, id->n))
			found = entry;
	}
	return found;
}

static void drop_entry(struct table_cache *cache, struct entry *entry)
{
	cache->n_bytes -= entry->n_bytes;
	*entry = cache->entries[--cache->n];
	publish_size(cache);
}

static void remove_entry(struct table_cache *cache, struct entry *entry)
{
	char name[TABLE_NAME_BYTES];

	table_name_format(name, &entry->name);
	unlinkat(cache->directory, name, 0);
	drop_entry(cache, entry);
}

static int add_entry(struct table_cache *cache, const struct table_name *name, uint64_t n_bytes,
		     uint64_t used_ns)
{
	struct entry *entry;

	if (ARRAY_RESERVE(&cache->entries, &cache->cap, cache->n + 1) < 0)
		return -ENOMEM;
	entry = &cache->entries[cache->n++];
	entry->name = *name;
	entry->n_bytes = n_bytes;
	entry->used_ns = used_ns;
	cache->n_bytes += n_bytes;
	publish_size(cache);
	return 0;
}

/* Makes room for a file of @n_bytes: those that were used least recently go. */
static void make_room(struct table_cache *cache, uint64_t n_bytes)
{
	while (cache->n > 0 && (cache->n_bytes + n_bytes > cache->max_bytes ||
				cache->n + (n_bytes > 0) > cache->max_files)) {
		struct entry *oldest = cache->entries;

		for (size_t i = 1; i < cache->n; i++)
			if (cache->entries[i].used_ns < oldest->used_ns)
				oldest = &cache->entries[i];
		remove_entry(cache, oldest);
	}
}

static uint64_t time_of_use(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec;
}

static int read_directory(struct table_cache *cache)
{
	int fd = openat(cache->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *found;
	struct table_name name;
	struct stat st;

	if (!d) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (r == 0 && (found = readdir(d))) {
		if (strcmp(found->d_name, NEW_FILE) == 0)
			unlinkat(cache->directory, NEW_FILE, 0);
		if (!table_name_parse(found->d_name, &name) ||
		    fstatat(cache->directory, found->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		r = add_entry(cache, &name, (uint64_t)st.st_size, time_of_use(&st));
	}
	closedir(d);
	make_room(cache, 0);
	return r;
}

static int open_directory(const char *path)
{
	struct stat st;
	int fd;

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return fd;
	close(fd);
	return -EPERM;
}

int table_cache_open(struct table_cache **ret, const struct table_cache_settings *settings)
{
	_cleanup_(table_cache_freep) struct table_cache *cache = calloc(1, sizeof(*cache));
	int r;

	if (!cache)
		return -ENOMEM;
	cache->max_bytes = settings->max_bytes ?: TABLE_CACHE_MAX_BYTES;
	cache->max_files = settings->max_files ?: TABLE_CACHE_MAX_FILES;
	cache->directory = open_directory(settings->directory);
	if (cache->directory < 0)
		return cache->directory;
	r = read_directory(cache);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(cache);
	return 0;
}

struct table_cache *table_cache_free(struct table_cache *cache)
{
	if (!cache)
		return NULL;
	if (cache->directory >= 0)
		close(cache->directory);
	free(cache->entries);
	free(cache);
	return NULL;
}

/* All bytes of a file, which is not larger than a table may be. 0; -ENOMEM; another -errno. */
static int read_file(int fd, void **ret, size_t *ret_n)
{
	_cleanup_free_ char *bytes = NULL;
	struct stat st;
	ssize_t k;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size <= 0 || st.st_size > TABLE_FILE_MAX_BYTES)
		return -EBADMSG;
	bytes = malloc((size_t)st.st_size);
	if (!bytes)
		return -ENOMEM;
	for (off_t at = 0; at < st.st_size; at += k) {
		k = pread(fd, bytes + at, (size_t)(st.st_size - at), at);
		if (k <= 0)
			return k < 0 ? -errno : -EBADMSG;
	}
	*ret = TAKE_PTR(bytes);
	*ret_n = (size_t)st.st_size;
	return 0;
}

static int read_table(const struct table_cache *cache, const struct table_name *name,
		      struct unwind_table *ret)
{
	_cleanup_free_ void *bytes = NULL;
	char path[TABLE_NAME_BYTES];
	size_t n = 0;
	int fd, r;

	table_name_format(path, name);
	fd = openat(cache->directory, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = read_file(fd, &bytes, &n);
	if (r >= 0)
		r = table_file_parse(bytes, n, &name->id, ret);
	if (r >= 0)
		(void)!futimens(fd, NULL);
	close(fd);
	return r;
}

int table_cache_get(struct table_cache *cache, const struct build_id *id,
		    const struct file_identity *file, struct unwind_table *ret)
{
	struct entry *entry = find_entry(cache, id, file);
	int r = entry ? read_table(cache, &entry->name, ret) : 0;

	if (entry && r == 0) {
		entry->used_ns = clock_ns(CLOCK_REALTIME);
		count_up(&cache->counts.found);
		return 1;
	}
	if (r == -ENOMEM)
		return r;
	if (r == -EBADMSG)
		count_up(&cache->counts.damaged);
	if (entry)
		remove_entry(cache, entry);
	return 0;
}

static int write_file(const struct table_cache *cache, const struct table_name *name,
		      const struct unwind_table *table)
{
	char path[TABLE_NAME_BYTES];
	int fd, r;

	fd = openat(cache->directory, NEW_FILE,
		    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = table_file_write(fd, &name->id, table);
	if (close(fd) < 0 && r == 0)
		r = -errno;
	table_name_format(path, name);
	if (r == 0 && renameat(cache->directory, NEW_FILE, cache->directory, path) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(cache->directory, NEW_FILE, 0);
	return r;
}

void table_cache_put(struct table_cache *cache, const struct build_id *id,
		     const struct file_identity *file, const struct unwind_table *table)
{
	const struct table_name name = { .id = *id, .file = *file };
	uint64_t n_bytes = table_file_bytes(table);
	struct entry *entry;
	int r = -EFBIG;

	count_up(&cache->counts.built);
	while ((entry = find_entry(cache, id, file)))
		remove_entry(cache, entry);
	if (n_bytes <= cache->max_bytes) {
		make_room(cache, n_bytes);
		r = write_file(cache, &name, table);
	}
	if (r == 0)
		r = add_entry(cache, &name, n_bytes, clock_ns(CLOCK_REALTIME));
	if (r < 0)
		count_up(&cache->counts.not_written);
}

void table_cache_get_counts(const struct table_cache *cache, struct table_cache_counts *ret)
{
	const uint64_t *from = (const uint64_t *)&cache->counts;
	uint64_t *to = (uint64_t *)ret;

	for (size_t i = 0; i < sizeof(*ret) / sizeof(*to); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}
