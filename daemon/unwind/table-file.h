/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An unwind table as the bytes of a file: a header, then the rules, parts and packed rows, as they
 * are in memory. A file is of one machine and one version of branchd. What is read may be
 * damaged: it passes a checksum and the same test as the answer of a parser.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/object/build-id.h"
#include "common/unwind/table.h"

#define TABLE_FILE_MAX_BYTES (32u << 20)

/* The bytes of the file that holds @table. */
size_t table_file_bytes(const struct unwind_table *table);

/* Writes the table of the object with build-id @id to @fd. 0 or -errno. */
int table_file_write(int fd, const struct build_id *id, const struct unwind_table *table);

/*
 * Reads a table from the @n bytes of a file, aligned as by malloc(). 0 and *@ret, for
 * unwind_table_done(); -EBADMSG if the file is damaged, or of another build-id; -ESTALE if another
 * version wrote it; -ENOMEM.
 */
int table_file_parse(const void *bytes, size_t n, const struct build_id *id,
		     struct unwind_table *ret);
