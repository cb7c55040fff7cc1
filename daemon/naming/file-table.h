/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The files that processes map: opened when they are mapped, because by the time a window closes
 * the process may have ended, and the way to the file with it.
 *
 * Each file is known by its device, inode and the inode's generation; once opened, also by the time
 * of its last change. It is read once, and again when it has changed. A file that changed while a
 * window was open is ambiguous in this window: nobody can tell which samples are of which state.
 *
 * An open file occupies disk space after its removal, and keeps its file system mounted. So few are
 * kept open, for a while, and each user's files get a share of them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/object/build-id.h"
#include "common/profile/profile.h"
#include "common/util/file-identity.h"
#include "common/util/macro.h"
#include "daemon/opener/opener.h"
#include "daemon/sampler/mapped-files.h"

struct file_key {
	uint32_t major, minor; /* as in mappings; btrfs and overlayfs show files with others */
	uint64_t inode, generation;
};

struct named_file {
	struct file_key key;
	struct file_identity identity;
	struct build_id build_id;
	bool opened;    /* at least once; else the identity is unknown */
	bool was_read;  /* else the build-id is unknown */
	bool is_open;   /* now, so that file_table_open() gives a descriptor */
	bool ambiguous; /* it changed while the window was open, see file_table_end_window() */
};

struct file_table;

struct file_table_settings {
	struct opener *opener; /* borrowed */
	size_t max_open;       /* files; at most a quarter of RLIMIT_NOFILE */
	/* Reads the build-id of the file at @fd, which it borrows; n is 0 without one. 0, or
	 * -EAGAIN: not now, try again later. */
	int (*read_id)(int fd, const struct file_identity *identity, struct build_id *ret,
		       void *userdata);
	void *userdata;
};

/* 0 or -ENOMEM. */
int file_table_new(struct file_table **ret, const struct file_table_settings *settings);
struct file_table *file_table_free(struct file_table *table);
DEFINE_CLEANUP(struct file_table *, file_table_free);

/* For file_table_see(): a file whose addresses are not known, for the caller to free; or NULL. */
struct mapped_file *mapped_file_new(int32_t pid, const struct file_key *key, const char *path);

/*
 * Opens a file that a process has mapped just now, if it is new or has changed. It is not read:
 * most files are never sampled.
 */
void file_table_see(struct file_table *table, const struct mapped_file *file);

/* Reads the build-id of a file that is open, if that was not done yet. */
void file_table_read(struct file_table *table, const struct file_key *key);

/* Borrowed until the next file is seen; NULL: unknown. */
const struct named_file *file_table_find(const struct file_table *table,
					 const struct file_key *key);

/* Another descriptor of the file, owned by the caller; -ENOENT: it is not open; or another -errno.
 */
int file_table_open(struct file_table *table, const struct file_key *key);

/* The key of an object that has its identity or its build-id; false: no such file is known. */
bool file_table_find_object(const struct file_table *table, const struct profile_object *object,
			    struct file_key *ret);

/* The number of files that are not opened because of their file systems: see opener_settings. */
size_t file_table_count_remote(const struct file_table *table);

/* From now on the files are what they are now. */
void file_table_end_window(struct file_table *table);

/* Closes the files that were last seen at least @age_us ago; 0: all. */
void file_table_close_old(struct file_table *table, uint64_t age_us);
