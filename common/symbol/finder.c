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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/symbol/failures.h"
#include "common/util/cleanup.h"

#define USUAL_DEBUG_DIR "/usr/lib/debug"
#define DELETED         " (deleted)"

/* Stands for the uid of a file that was fetched: its parser reads no other files. */
#define OWNER_FETCHED (UINT32_MAX - 1)

/* Looks at the file before it opens it, because opening a device has effects. */
static int open_regular(const char *path, struct stat *ret_stat)
{
	_cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);
	char again[32];
	int opened;

	if (fd < 0 || fstat(fd, ret_stat) < 0)
		return -errno;
	if (!S_ISREG(ret_stat->st_mode))
		return -ENOEXEC;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", fd);
	opened = open(again, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return opened < 0 ? -errno : opened;
}

/* -ESTALE and @why if a file with the build-id @id is not that of @object. */
static int check_identity(const struct profile_object *object, const struct build_id *id,
			  const struct stat *st, const char *path, struct fault *why)
{
	char mine[BUILD_ID_HEX_SIZE], theirs[BUILD_ID_HEX_SIZE];

	if (object->n_build_id) {
		if (build_id_equal(id, object->build_id, object->n_build_id))
			return 0;
		return fault_set(why, -ESTALE, "%s has build-id %s, the profile has %s", path,
				 build_id_format(theirs, id->bytes, id->n),
				 build_id_format(mine, object->build_id, object->n_build_id));
	}
	if (st && object->inode && (uint32_t)st->st_ino != (uint32_t)object->inode)
		return fault_set(why, -ESTALE, "%s was replaced", path);
	return 0;
}

/* A file that is tried: @is_copy if its inode does not count. */
struct candidate {
	const char *path;
	struct stat st;
	bool is_copy;
};

/* Takes @fd, of a file that may have failed before. */
static int parse(const struct symbolizer_settings *settings, int fd, uint32_t owner,
		 struct parser_file **ret, struct fault *why)
{
	const char *failure = failures_find(settings->failures, fd);
	_cleanup_close_ int copy = -1;
	int r;

	if (failure) {
		close(fd);
		return fault_set(why, -EREMOTEIO, "%s", failure);
	}
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	r = parser_open(settings->parser, fd, owner, ret, why);
	if (r == -EREMOTEIO && copy >= 0)
		failures_add(settings->failures, copy, why->text);
	return r;
}

/* Takes @fd. */
static int try_fd(const struct symbolizer_settings *settings, int fd,
		  const struct candidate *candidate, const struct profile_object *object,
		  struct parser_file **ret, struct fault *why)
{
	_cleanup_(parser_file_freep) struct parser_file *file = NULL;
	struct fault fault = { .text = "" };
	int r = parse(settings, fd, candidate->st.st_uid, &file, &fault);

	if (r == -ENOMEM)
		return r;
	if (r == -ECONNREFUSED)
		return fault_set(why, r, "%s", fault.text);
	if (r == -EREMOTEIO)
		return fault_set(why, r, "%s: %s", candidate->path, fault.text);
	if (r < 0)
		return fault_set(why, r, "%s is not an ELF program or library", candidate->path);
	r = check_identity(object, &parser_file_identity(file)->build_id,
			   candidate->is_copy ? NULL : &candidate->st, candidate->path, why);
	if (!r)
		*ret = TAKE_PTR(file);
	return r;
}

/* @plain: neither below symfs nor a copy. */
static int try_path(const struct symbolizer_settings *settings, const char *path, bool plain,
		    const struct profile_object *object, struct parser_file **ret,
		    struct fault *why)
{
	struct candidate candidate = { .path = path, .is_copy = !plain };
	int fd = open_regular(path, &candidate.st);

	if (fd == -ENOENT || fd == -ENOTDIR)
		return fault_set(why, -ENOENT, "not found");
	if (fd == -ENOEXEC)
		return fault_set(why, fd, "%s is not a regular file", path);
	if (fd < 0)
		return fault_set(why, fd, "%s: %s", path, strerror(-fd));
	return try_fd(settings, fd, &candidate, object, ret, why);
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
static int try_opened(const struct symbolizer_settings *settings, int fd,
		      const struct profile_object *object, struct parser_file **ret,
		      struct fault *why)
{
	struct candidate candidate = { .path = object->path };

	if (fstat(fd, &candidate.st) < 0 || !S_ISREG(candidate.st.st_mode)) {
		close(fd);
		return -ENOEXEC;
	}
	return try_fd(settings, fd, &candidate, object, ret, why);
}

/*
 * No other file is tried after these errors. One that its parser cannot read may be another's, put
 * at the same path in a mount namespace of his.
 */
static bool is_final(int r)
{
	return r == -ENOMEM || r == -ECONNREFUSED;
}

/* Tries the files that settings->open offers, until one is the right file. Without it, the error of
 * the last one. */
static int try_opener(const struct symbolizer_settings *settings,
		      const struct profile_object *object, struct parser_file **ret,
		      char **ret_path, struct fault *why)
{
	_cleanup_free_ char *path = strdup(object->path);
	unsigned int cursor = 0;
	int fd, r = 0;

	if (!path)
		return -ENOMEM;
	do {
		fd = settings->open(object, &cursor, settings->userdata);
		if (fd < 0)
			return r < 0 ? r : fd;
		r = try_opened(settings, fd, object, ret, why);
	} while (r < 0 && !is_final(r));
	if (!r)
		*ret_path = TAKE_PTR(path);
	return r;
}

static int try_own_path(const struct symbolizer_settings *settings,
			const struct profile_object *object, struct parser_file **ret,
			char **ret_path, struct fault *why)
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
	r = try_path(settings, path, !settings->symfs, object, ret, why);
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
static int try_build_id(const struct symbolizer_settings *settings, const struct folder *folder,
			const char *suffix, const struct profile_object *object,
			struct parser_file **ret, char **ret_path)
{
	_cleanup_(parser_file_freep) struct parser_file *file = NULL;
	_cleanup_free_ char *path = NULL;
	struct fault ignored;
	int r;

	r = join_build_id(&path, folder, object->build_id, object->n_build_id, suffix);
	if (r < 0)
		return r;
	r = try_path(settings, path, false, object, &file, &ignored);
	if (r < 0)
		return r;
	if (!loads_have_code(&parser_file_identity(file)->loads))
		return -ENOENT;
	*ret = TAKE_PTR(file);
	*ret_path = TAKE_PTR(path);
	return 0;
}

static int try_build_ids(const struct symbolizer_settings *settings,
			 const struct profile_object *object, struct parser_file **ret,
			 char **ret_path)
{
	static const char *const suffixes[] = { "", "/elf", ".debug" };
	struct folder folders[N_FOLDERS];

	list_folders(settings, folders);
	for (size_t d = 0; d < N_FOLDERS; d++) {
		for (size_t i = 0; i < ARRAY_SIZE(suffixes) && folders[d].path; i++) {
			int r = try_build_id(settings, &folders[d], suffixes[i], object, ret,
					     ret_path);

			if (!r || r == -ENOMEM)
				return r;
		}
	}
	return -ENOENT;
}

/* Adds the debug file at @path. 0; -ENOENT: it does not belong to @file; -EREMOTEIO and @why. */
static int try_debug(struct parser_file *file, const char *path, bool linked, struct fault *why)
{
	struct stat st;
	int fd = open_regular(path, &st), r;

	if (fd < 0)
		return -ENOENT;
	r = parser_file_add_debug(file, fd, linked, why);
	return r == -ENOMEM || r == -EREMOTEIO || r == -ECONNREFUSED || !r ? r : -ENOENT;
}

static int try_debug_in(struct parser_file *file, const char *dir, const char *below,
			struct fault *why)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s%s/%s", dir, below, parser_file_identity(file)->debuglink) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	return try_debug(file, path, true, why);
}

static int add_linked(const struct symbolizer_settings *settings, struct parser_file *file,
		      const char *path, struct fault *why)
{
	const char *const dirs[] = { settings->debug_dir, USUAL_DEBUG_DIR };
	_cleanup_free_ char *dir = strdup(path);
	char *slash = dir ? strrchr(dir, '/') : NULL;
	int r;

	if (!parser_file_identity(file)->debuglink || !slash)
		return -ENOENT;
	*slash = 0;
	r = try_debug_in(file, dir, "", why);
	if (r == -ENOENT)
		r = try_debug_in(file, dir, "/.debug", why);
	for (size_t i = 0; i < ARRAY_SIZE(dirs) && r == -ENOENT; i++)
		if (dirs[i])
			r = try_debug_in(file, dirs[i], dir, why);
	return r;
}

static int add_by_build_id(const struct symbolizer_settings *settings, struct parser_file *file,
			   struct fault *why)
{
	static const char *const suffixes[] = { ".debug", "/debug" };
	const struct build_id *id = &parser_file_identity(file)->build_id;
	struct folder folders[N_FOLDERS];
	int r = -ENOENT;

	list_folders(settings, folders);
	for (size_t i = 0; i < N_FOLDERS * ARRAY_SIZE(suffixes) && r == -ENOENT; i++) {
		const struct folder *folder = &folders[i / ARRAY_SIZE(suffixes)];
		_cleanup_free_ char *path = NULL;

		if (!folder->path)
			continue;
		r = join_build_id(&path, folder, id->bytes, id->n,
				  suffixes[i % ARRAY_SIZE(suffixes)]);
		if (!r)
			r = try_debug(file, path, false, why);
	}
	return r;
}

static int fetch(const struct symbolizer_settings *settings, const uint8_t *build_id, size_t n,
		 const char *path, bool is_debug)
{
	const struct symbolizer_wanted wanted = {
		.build_id = build_id,
		.n_build_id = n,
		.path = path,
		.is_debug = is_debug,
	};

	return settings->fetch ? settings->fetch(&wanted, settings->userdata) : -ENOENT;
}

/* The object itself. */
static int fetch_object(const struct symbolizer_settings *settings,
			const struct profile_object *object, struct parser_file **ret,
			char **ret_path)
{
	struct candidate candidate = {
		.path = object->path,
		.st.st_uid = OWNER_FETCHED,
		.is_copy = true,
	};
	_cleanup_free_ char *path = strdup(object->path);
	struct fault ignored;
	int fd, r;

	if (!path)
		return -ENOMEM;
	fd = fetch(settings, object->build_id, object->n_build_id, object->path, false);
	if (fd < 0)
		return -ENOENT;
	r = try_fd(settings, fd, &candidate, object, ret, &ignored);
	if (!r)
		*ret_path = TAKE_PTR(path);
	return r;
}

/*
 * Replaces *@file by the same one with its debug file, in the parser of fetched files. As it was if
 * there is no such file, or not the right one: -ENOENT, or -ENOMEM.
 */
static int fetch_debug(const struct symbolizer_settings *settings, struct parser_file **file,
		       const char *path)
{
	const struct build_id *id = &parser_file_identity(*file)->build_id;
	_cleanup_(parser_file_freep) struct parser_file *again = NULL;
	_cleanup_close_ int debug = fetch(settings, id->bytes, id->n, path, true);
	int fd = debug >= 0 ? fcntl(parser_file_fd(*file), F_DUPFD_CLOEXEC, 0) : -1;
	struct fault ignored;
	int r;

	if (fd < 0)
		return -ENOENT;
	r = parser_open(settings->parser, fd, OWNER_FETCHED, &again, &ignored);
	if (!r)
		r = parser_file_add_debug(again, fcntl(debug, F_DUPFD_CLOEXEC, 0), false, &ignored);
	if (r < 0)
		return r == -ENOMEM ? r : -ENOENT;
	parser_file_free(*file);
	*file = TAKE_PTR(again);
	return 0;
}

/* Adds the debug file of *@inout, which is at @path, if it needs one. 0 or -errno and @why. */
static int add_debug(const struct symbolizer_settings *settings, struct parser_file **inout,
		     const char *path, struct fault *why)
{
	struct parser_file *file = *inout;
	const struct parser_identity *identity = parser_file_identity(file);
	struct fault fault = { .text = "" };
	int r = -ENOENT;

	if (identity->has_symtab && identity->has_dwarf)
		return 0;
	if (identity->build_id.n)
		r = add_by_build_id(settings, file, &fault);
	if (r == -ENOENT && !settings->only_open)
		r = add_linked(settings, file, path, &fault);
	if (r == -ENOENT && identity->build_id.n)
		r = fetch_debug(settings, inout, path);
	if (r == -EREMOTEIO)
		failures_add(settings->failures, parser_file_fd(file), fault.text);
	if (r == -ENOENT || !r || r == -ENOMEM)
		return r == -ENOENT ? 0 : r;
	return fault_set(why, r, "%s: %s", path, fault.text);
}

int finder_open_object(const struct symbolizer_settings *settings,
		       const struct profile_object *object, struct parser_file **ret,
		       char **ret_path, struct fault *why)
{
	_cleanup_(parser_file_freep) struct parser_file *file = NULL;
	_cleanup_free_ char *path = NULL;
	int r, by_id;

	r = settings->open ? try_opener(settings, object, &file, &path, why) : -ENOENT;
	if (r < 0 && !is_final(r) && !settings->only_open)
		r = try_own_path(settings, object, &file, &path, why);
	if (r < 0 && !is_final(r) && r != -EAGAIN && object->n_build_id) {
		by_id = try_build_ids(settings, object, &file, &path);
		if (by_id == -ENOENT)
			by_id = fetch_object(settings, object, &file, &path);
		r = !by_id || by_id == -ENOMEM ? by_id : r;
	}
	if (!r)
		r = add_debug(settings, &file, path, why);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(file);
	*ret_path = TAKE_PTR(path);
	return 0;
}
