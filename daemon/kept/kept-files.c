/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/kept/kept-files.h"

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
#include "daemon/kept/kept-name.h"

struct entry {
	struct kept_name name;
	uint64_t n_bytes, used_ns;
};

struct kept_files {
	int directory;
	const char *suffix;
	char new_file[16]; /* what one is called while it is written */
	size_t max_file_bytes;
	uint64_t max_bytes;
	size_t max_files;
	struct entry *entries;
	size_t n, cap;
	uint64_t n_bytes;
	struct kept_files_counts counts;
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

static void publish_size(struct kept_files *kept)
{
	set_count(&kept->counts.files, kept->n);
	set_count(&kept->counts.bytes, kept->n_bytes);
}

/* Of the file, or else of another one with that build-id; either may be NULL. */
static struct entry *find_entry(struct kept_files *kept, const struct build_id *id,
				const struct file_identity *file)
{
	struct entry *found = NULL;

	for (size_t i = 0; i < kept->n; i++) {
		struct entry *entry = &kept->entries[i];

		if (file && file_identity_equal(&entry->name.file, file))
			return entry;
		if (id && build_id_equal(&entry->name.id, id->bytes, id->n))
			found = entry;
	}
	return found;
}

static void drop_entry(struct kept_files *kept, struct entry *entry)
{
	kept->n_bytes -= entry->n_bytes;
	*entry = kept->entries[--kept->n];
	publish_size(kept);
}

static void remove_entry(struct kept_files *kept, struct entry *entry)
{
	char name[KEPT_NAME_BYTES];

	kept_name_format(name, &entry->name, kept->suffix);
	unlinkat(kept->directory, name, 0);
	drop_entry(kept, entry);
}

static int add_entry(struct kept_files *kept, const struct kept_name *name, uint64_t n_bytes,
		     uint64_t used_ns)
{
	struct entry *entry;

	if (ARRAY_RESERVE(&kept->entries, &kept->cap, kept->n + 1) < 0)
		return -ENOMEM;
	entry = &kept->entries[kept->n++];
	entry->name = *name;
	entry->n_bytes = n_bytes;
	entry->used_ns = used_ns;
	kept->n_bytes += n_bytes;
	publish_size(kept);
	return 0;
}

/* Makes room for a file of @n_bytes: those that were used least recently go. */
static void make_room(struct kept_files *kept, uint64_t n_bytes)
{
	while (kept->n > 0 && (kept->n_bytes + n_bytes > kept->max_bytes ||
			       kept->n + (n_bytes > 0) > kept->max_files)) {
		struct entry *oldest = kept->entries;

		for (size_t i = 1; i < kept->n; i++)
			if (kept->entries[i].used_ns < oldest->used_ns)
				oldest = &kept->entries[i];
		remove_entry(kept, oldest);
	}
}

static uint64_t time_of_use(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec;
}

static int read_directory(struct kept_files *kept)
{
	int fd = openat(kept->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *found;
	struct kept_name name;
	struct stat st;

	if (!d) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (r == 0 && (found = readdir(d))) {
		if (strcmp(found->d_name, kept->new_file) == 0)
			unlinkat(kept->directory, kept->new_file, 0);
		if (!kept_name_parse(found->d_name, kept->suffix, &name) ||
		    fstatat(kept->directory, found->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		r = add_entry(kept, &name, (uint64_t)st.st_size, time_of_use(&st));
	}
	closedir(d);
	make_room(kept, 0);
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

int kept_files_open(struct kept_files **ret, const struct kept_files_settings *settings)
{
	_cleanup_(kept_files_freep) struct kept_files *kept = calloc(1, sizeof(*kept));
	int r;

	if (!kept)
		return -ENOMEM;
	kept->max_bytes = settings->max_bytes ?: KEPT_FILES_MAX_BYTES;
	kept->max_files = settings->max_files ?: KEPT_FILES_MAX_FILES;
	kept->suffix = settings->suffix;
	snprintf(kept->new_file, sizeof(kept->new_file), "%s.part", kept->suffix);
	kept->max_file_bytes = settings->max_file_bytes;
	kept->directory = open_directory(settings->directory);
	if (kept->directory < 0)
		return kept->directory;
	r = read_directory(kept);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(kept);
	return 0;
}

struct kept_files *kept_files_free(struct kept_files *kept)
{
	if (!kept)
		return NULL;
	if (kept->directory >= 0)
		close(kept->directory);
	free(kept->entries);
	free(kept);
	return NULL;
}

/* All bytes of a file, which has a limit. 0; -ENOMEM; another -errno. */
static int read_file(int fd, size_t max, void **ret, size_t *ret_n)
{
	_cleanup_free_ char *bytes = NULL;
	struct stat st;
	ssize_t k;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size <= 0 || (uint64_t)st.st_size > max)
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

static int read_entry(const struct kept_files *kept, const struct kept_name *name,
		      kept_files_reader reader, void *userdata)
{
	_cleanup_free_ void *bytes = NULL;
	char path[KEPT_NAME_BYTES];
	size_t n = 0;
	int fd, r;

	kept_name_format(path, name, kept->suffix);
	fd = openat(kept->directory, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = read_file(fd, kept->max_file_bytes, &bytes, &n);
	if (r >= 0)
		r = reader(bytes, n, &name->id, userdata);
	if (r >= 0)
		(void)!futimens(fd, NULL);
	close(fd);
	return r;
}

int kept_files_get(struct kept_files *kept, const struct build_id *id,
		   const struct file_identity *file, kept_files_reader reader, void *userdata)
{
	struct entry *entry = find_entry(kept, id, file);
	int r = entry ? read_entry(kept, &entry->name, reader, userdata) : 0;

	if (entry && r == 0) {
		entry->used_ns = clock_ns(CLOCK_REALTIME);
		count_up(&kept->counts.found);
		return 1;
	}
	if (r == -ENOMEM)
		return r;
	if (r == -EBADMSG)
		count_up(&kept->counts.damaged);
	if (entry)
		remove_entry(kept, entry);
	return 0;
}

static int write_file(const struct kept_files *kept, const struct kept_name *name,
		      const struct kept_content *content)
{
	char path[KEPT_NAME_BYTES];

	kept_name_format(path, name, kept->suffix);
	return kept_write(kept->directory, kept->new_file, path, &name->id, content);
}

void kept_files_put(struct kept_files *kept, const struct build_id *id,
		    const struct file_identity *file, const struct kept_content *content)
{
	const struct kept_name name = { .id = *id,
					.file = file ? *file : (struct file_identity){} };
	struct entry *entry;
	int r = -EFBIG;

	count_up(&kept->counts.built);
	while ((entry = find_entry(kept, id, file)))
		remove_entry(kept, entry);
	if (content->n_bytes <= MIN(kept->max_file_bytes, kept->max_bytes)) {
		make_room(kept, content->n_bytes);
		r = write_file(kept, &name, content);
	}
	if (r == 0)
		r = add_entry(kept, &name, content->n_bytes, clock_ns(CLOCK_REALTIME));
	if (r < 0)
		count_up(&kept->counts.not_written);
}

int kept_files_directory(const struct kept_files *kept)
{
	return kept->directory;
}

void kept_files_get_counts(const struct kept_files *kept, struct kept_files_counts *ret)
{
	const uint64_t *from = (const uint64_t *)&kept->counts;
	uint64_t *to = (uint64_t *)ret;

	for (size_t i = 0; i < sizeof(*ret) / sizeof(*to); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}
