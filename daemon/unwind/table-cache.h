/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Unwind tables on disk, a file each, in one directory. A table is found by the file it was made
 * from, as long as that is unchanged, or by the build-id. The cache only saves time. It
 * may be removed whenever branchd does not run, and no error of it is an error of its user: what
 * cannot be read is built again, and what cannot be written is missing.
 *
 * A build-id is what a file says of itself, so only tables of trusted files may be put here, and
 * only trusted files may get one: see file-identity.h.
 *
 * The files together have a limit; those that were used least recently go first. The time of a
 * file's last change is that of its last use.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/object/build-id.h"
#include "common/unwind/table.h"
#include "common/util/file-identity.h"
#include "common/util/macro.h"

#define TABLE_CACHE_MAX_BYTES (256ull << 20)
#define TABLE_CACHE_MAX_FILES 4096

struct table_cache;

struct table_cache_settings {
	const char *directory; /* made if it is missing; nobody else may own it or write to it */
	uint64_t max_bytes;    /* 0: TABLE_CACHE_MAX_BYTES */
	size_t max_files;      /* 0: TABLE_CACHE_MAX_FILES */
};

struct table_cache_counts {
	uint64_t found;        /* tables that were there when they were needed */
	uint64_t built;        /* tables that were put here */
	uint64_t damaged;      /* files that were removed because they were damaged */
	uint64_t not_written;  /* tables for which there was no room, or that met an error */
	uint64_t files, bytes; /* now */
};

/* 0; -EPERM if others may write to the directory; or another -errno. */
int table_cache_open(struct table_cache **ret, const struct table_cache_settings *settings);
struct table_cache *table_cache_free(struct table_cache *cache);
DEFINE_CLEANUP(struct table_cache *, table_cache_free);

/*
 * The table of a trusted file. @id: its build-id; NULL: not known. 1 and *@ret, for
 * unwind_table_done(); 0 if it is not there; -ENOMEM.
 */
int table_cache_get(struct table_cache *cache, const struct build_id *id,
		    const struct file_identity *file, struct unwind_table *ret);

/* Keeps the table of a trusted file, if it can, in place of others with the build-id. */
void table_cache_put(struct table_cache *cache, const struct build_id *id,
		     const struct file_identity *file, const struct unwind_table *table);

/* Any thread may call it. */
void table_cache_get_counts(const struct table_cache *cache, struct table_cache_counts *ret);
