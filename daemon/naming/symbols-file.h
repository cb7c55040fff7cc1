/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A symbol table as the bytes of a file: a header, the functions by their start, and their names.
 * What is read may be damaged: it passes a checksum, and functions and names that are not where
 * they may be are refused.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/object/build-id.h"
#include "common/object/symbol-table.h"

#define SYMBOLS_FILE_MAX_BYTES (32u << 20)

/* A table on its way to a file. */
struct symbols_content {
	struct symbol_row *rows;
	size_t n_rows;
	char *text;
	size_t n_text;
};

/* Of a finalized table. 0; -EFBIG if it is too large; -ENOMEM. */
int symbols_content_make(struct symbols_content *ret, const struct symbol_table *table);
void symbols_content_done(struct symbols_content *content);

/* The bytes of the file that holds @content. */
size_t symbols_file_bytes(const struct symbols_content *content);

/* Writes what is of the object with build-id @id to @fd. 0 or -errno. */
int symbols_file_write(int fd, const struct build_id *id, const struct symbols_content *content);

/*
 * Reads a table from the @n bytes of a file, aligned as by malloc(). 0 and *@ret, finalized and
 * packed; -EBADMSG if the file is damaged, or of another build-id; -ESTALE if another version wrote
 * it; -ENOMEM.
 */
int symbols_file_parse(const void *bytes, size_t n, const struct build_id *id,
		       struct symbol_table **ret);
