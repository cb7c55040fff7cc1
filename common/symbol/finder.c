/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An object is searched for at its path (below symfs if that is set), then by its build-id in
 * debug_dir, perf's cache and /usr/lib/debug. For the build-id abcd, perf's cache has
 * .build-id/ab/cd/elf and .build-id/ab/cd/debug, in older versions .build-id/ab/cd; debuggers use
 * .build-id/ab/cd.debug.
 *
 * For an object without a build-id the file at its path is used, unless its inode differs: then the
 * file was replaced. Only the low half of the inode is compared, because overlayfs changes the
 * upper half. The device is not compared, because overlayfs and btrfs report different devices for
 * files and for mappings. Files below symfs are copies, so neither is compared.
 *
 * Only regular files are opened, without blocking: the path may be a pipe by now.
 */
#include "common/symbol/finder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/util/cleanup.h"

#define USUAL_DEBUG_DIR "/usr/lib/debug"
#define DELETED         " (deleted)"

static int open_regular(const char *path, struct stat *ret_stat)
{
	_cleanup_close_ int fd = -1;
	int opened;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, ret_stat) < 0)
		return -errno;
	if (!S_ISREG(ret_stat->st_mode))
		return -ENOEXEC;
	opened = fd;
	fd = -1;
	return opened;
}

/* -ESTALE and @why if @file is not the file of @object. */
static int check_identity(const struct profile_object *object, const struct elf_file *file,
			  const struct stat *st, const char *path, struct fault *why)
{
	char mine[BUILD_ID_HEX_SIZE], theirs[BUILD_ID_HEX_SIZE];

	if (object->n_build_id) {
		if (build_id_equal(&file->build_id, object->build_id, object->n_build_id))
			return 0;
		return fault_set(why, -ESTALE, "%s has build-id %s, the profile has %s", path,
				 build_id_format(theirs, file->build_id.bytes, file->build_id.n),
				 build_id_format(mine, object->build_id, object->n_build_id));
	}
	if (st && object->inode && (uint32_t)st->st_ino != (uint32_t)object->inode)
		return fault_set(why, -ESTALE, "%s was replaced", path);
	return 0;
}

/* Takes @fd. @st is NULL for a copy, whose inode does not count. */
static int try_fd(int fd, const struct stat *st, const struct profile_object *object,
		  const char *path, struct elf_file **ret, struct fault *why)
{
	_cleanup_(elf_file_freep) struct elf_file *file = NULL;
	int r = elf_file_open(&file, fd);

	if (r == -ENOMEM)
		return r;
	if (r < 0)
		return fault_set(why, r, "%s is not an ELF program or library", path);
	r = check_identity(object, file, st, path, why);
	if (!r)
		*ret = TAKE_PTR(file);
	return r;
}

/* @plain: neither below symfs nor a copy. */
static int try_path(const char *path, bool plain, const struct profile_object *object,
		    struct elf_file **ret, struct fault *why)
{
	struct stat st;
	int fd = open_regular(path, &st);

	if (fd == -ENOENT || fd == -ENOTDIR)
		return fault_set(why, -ENOENT, "not found");
	if (fd == -ENOEXEC)
		return fault_set(why, fd, "%s is not a regular file", path);
	if (fd < 0)
		return fault_set(why, fd, "%s: %s", path, strerror(-fd));
	return try_fd(fd, plain ? &st : NULL, object, path, ret, why);
}

/* The path without the mark that the kernel appends to deleted files. */
static char *path_on_disk(const char *symfs, const char *path, bool *ret_deleted)
{
	size_t n = strlen(path), mark = strlen(DELETED);
	char *joined;

	*ret_deleted = n > mark && !strcmp(path + n - mark, DELETED);
	if (*ret_deleted)
		n -= mark;
	if (asprintf(&joined, "%s%.*s", symfs ?: "", (int)n, path) < 0)
		return NULL;
	return joined;
}

/* Takes @fd. Its inode is compared, as for a plain path. */
static int try_opened(int fd, const struct profile_object *object, struct elf_file **ret,
		      struct fault *why)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return -ENOEXEC;
	}
	return try_fd(fd, &st, object, object->path, ret, why);
}

/* Tries the files that settings->open offers, until one is the right file. */
static int try_opener(const struct symbolizer_settings *settings,
		      const struct profile_object *object, struct elf_file **ret, char **ret_path,
		      struct fault *why)
{
	_cleanup_free_ char *path = strdup(object->path);
	unsigned int cursor = 0;
	int fd, r;

	if (!path)
		return -ENOMEM;
	do {
		fd = settings->open(object, &cursor, settings->userdata);
		if (fd < 0)
			return fd;
		r = try_opened(fd, object, ret, why);
	} while (r < 0 && r != -ENOMEM);
	if (!r)
		*ret_path = TAKE_PTR(path);
	return r;
}

static int try_own_path(const struct symbolizer_settings *settings,
			const struct profile_object *object, struct elf_file **ret, char **ret_path,
			struct fault *why)
{
	_cleanup_free_ char *path = NULL;
	bool deleted;
	int r;

	if (object->path[0] != '/')
		return fault_set(why, -ENOENT, "not a file");
	path = path_on_disk(settings->symfs, object->path, &deleted);
	if (!path)
		return -ENOMEM;
	if (deleted && !object->n_build_id)
		return fault_set(why, -ENOENT, "deleted");
	r = try_path(path, !settings->symfs, object, ret, why);
	if (r == -ENOENT)
		return fault_set(why, r, deleted ? "deleted" : "not found: %s", path);
	if (!r)
		*ret_path = TAKE_PTR(path);
	return r;
}

/* A folder with .build-id in it: two parts of its path. No folder if the first is NULL. */
struct folder {
	const char *path, *below;
};

#define N_FOLDERS 3

static void list_folders(const struct symbolizer_settings *settings, struct folder *ret)
{
	ret[0] = (struct folder){ settings->debug_dir, "" };
	ret[1] = (struct folder){ settings->home, "/.debug" };
	ret[2] = (struct folder){ USUAL_DEBUG_DIR, "" };
}

/* folder/.build-id/xx/yyyy@suffix */
static int join_build_id(char **ret, const struct folder *folder, const uint8_t *build_id, size_t n,
			 const char *suffix)
{
	char hex[BUILD_ID_HEX_SIZE];

	build_id_format(hex, build_id, n);
	if (asprintf(ret, "%s%s/.build-id/%.2s/%s%s", folder->path, folder->below, hex, hex + 2,
		     suffix) >= 0)
		return 0;
	*ret = NULL;
	return -ENOMEM;
}

/* Debug files are refused: they may lack the program headers that convert offsets. */
static int try_build_id(const struct folder *folder, const char *suffix,
			const struct profile_object *object, struct elf_file **ret, char **ret_path)
{
	_cleanup_(elf_file_freep) struct elf_file *file = NULL;
	_cleanup_free_ char *path = NULL;
	struct fault ignored;
	int r;

	r = join_build_id(&path, folder, object->build_id, object->n_build_id, suffix);
	if (r < 0)
		return r;
	r = try_path(path, false, object, &file, &ignored);
	if (r < 0)
		return r;
	if (!loads_have_code(&file->loads))
		return -ENOENT;
	*ret = TAKE_PTR(file);
	*ret_path = TAKE_PTR(path);
	return 0;
}

static int try_build_ids(const struct symbolizer_settings *settings,
			 const struct profile_object *object, struct elf_file **ret,
			 char **ret_path)
{
	static const char *const suffixes[] = { "", "/elf", ".debug" };
	struct folder folders[N_FOLDERS];

	list_folders(settings, folders);
	for (size_t d = 0; d < N_FOLDERS; d++) {
		for (size_t i = 0; i < ARRAY_SIZE(suffixes) && folders[d].path; i++) {
			int r = try_build_id(&folders[d], suffixes[i], object, ret, ret_path);

			if (!r || r == -ENOMEM)
				return r;
		}
	}
	return -ENOENT;
}

int finder_open_object(const struct symbolizer_settings *settings,
		       const struct profile_object *object, struct elf_file **ret, char **ret_path,
		       struct fault *why)
{
	_cleanup_free_ char *path = NULL;
	int r, by_id;

	r = settings->open ? try_opener(settings, object, ret, &path, why) : -ENOENT;
	if (r < 0 && r != -ENOMEM)
		r = try_own_path(settings, object, ret, &path, why);
	if (r < 0 && r != -ENOMEM && object->n_build_id) {
		by_id = try_build_ids(settings, object, ret, &path);
		r = !by_id || by_id == -ENOMEM ? by_id : r;
	}
	if (!r && ret_path)
		*ret_path = TAKE_PTR(path);
	return r;
}

/* The checksum of .gnu_debuglink: CRC-32 as in zlib, of the whole file. */
static uint32_t crc_update(uint32_t crc, const uint8_t *bytes, size_t n)
{
	static uint32_t table[256];

	for (uint32_t i = 0; !table[255] && i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ 0xedb88320U : c >> 1;
		table[i] = c;
	}
	for (size_t i = 0; i < n; i++)
		crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 0xff];
	return crc;
}

static bool crc_matches(int fd, uint32_t expected)
{
	_cleanup_free_ uint8_t *buffer = malloc(1 << 20);
	uint32_t crc = UINT32_MAX;
	off_t at = 0;
	ssize_t n;

	if (!buffer)
		return false;
	for (; (n = pread(fd, buffer, 1 << 20, at)) > 0; at += n)
		crc = crc_update(crc, buffer, (size_t)n);
	return !n && ~crc == expected;
}

/* A descriptor of the debug file at @path if it belongs to @file, else -1. */
static int try_debug(const char *path, const struct elf_file *file, bool linked)
{
	_cleanup_(elf_image_freep) struct elf_image *image = NULL;
	struct stat st;
	int fd = open_regular(path, &st), copy;

	if (fd < 0)
		return -1;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (elf_image_open(&image, fd) < 0)
		goto refuse;
	if (file->build_id.n && image->build_id.n) {
		if (!build_id_equal(&image->build_id, file->build_id.bytes, file->build_id.n))
			goto refuse;
	} else if (!linked || copy < 0 || !crc_matches(copy, file->debuglink_crc)) {
		goto refuse;
	}
	return copy;
refuse:
	if (copy >= 0)
		close(copy);
	return -1;
}

static int try_debug_in(const char *dir, const char *below, const struct elf_file *file)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s%s/%s", dir, below, file->debuglink) < 0) {
		path = NULL;
		return -1;
	}
	return try_debug(path, file, true);
}

static int open_linked(const char *const *dirs, size_t n_dirs, const struct elf_file *file,
		       const char *path)
{
	_cleanup_free_ char *dir = strdup(path);
	char *slash = dir ? strrchr(dir, '/') : NULL;
	int fd;

	if (!file->debuglink || !slash)
		return -1;
	*slash = 0;
	fd = try_debug_in(dir, "", file);
	if (fd < 0)
		fd = try_debug_in(dir, "/.debug", file);
	for (size_t i = 0; i < n_dirs && fd < 0; i++)
		if (dirs[i])
			fd = try_debug_in(dirs[i], dir, file);
	return fd;
}

static int open_by_build_id(const struct symbolizer_settings *settings, const struct elf_file *file)
{
	static const char *const suffixes[] = { ".debug", "/debug" };
	struct folder folders[N_FOLDERS];
	int fd = -1;

	list_folders(settings, folders);
	for (size_t i = 0; i < N_FOLDERS * ARRAY_SIZE(suffixes) && fd < 0; i++) {
		const struct folder *folder = &folders[i / ARRAY_SIZE(suffixes)];
		_cleanup_free_ char *path = NULL;

		if (!folder->path)
			continue;
		if (join_build_id(&path, folder, file->build_id.bytes, file->build_id.n,
				  suffixes[i % ARRAY_SIZE(suffixes)]) < 0)
			return -1;
		fd = try_debug(path, file, false);
	}
	return fd;
}

int finder_open_debug(const struct symbolizer_settings *settings, const struct elf_file *file,
		      const char *path)
{
	const char *const dirs[] = { settings->debug_dir, USUAL_DEBUG_DIR };
	int fd = file->build_id.n ? open_by_build_id(settings, file) : -1;

	return fd >= 0 ? fd : open_linked(dirs, ARRAY_SIZE(dirs), file, path);
}
