/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file that is written whole or not at all: it has no name until it is complete, or a temporary
 * one where the file system has no such files. What is no regular file, such as a pipe, is written
 * directly.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/util/fault.h"
#include "common/util/macro.h"

struct output_file {
	FILE *f;
	int fd, r; /* of @f; the first error of a write, -errno */
	uint64_t n_written;
	const char *name; /* for messages */
	char *path;       /* to rename to; NULL: written directly */
	char *temporary;  /* NULL: it has no name until it is complete */
	bool is_new; /* @path was made for the link that leads to it, and is empty until then */
};

#define OUTPUT_FILE_INIT ((struct output_file){ .fd = -1 })

/* @name is borrowed; NULL means stdout. @ret stays where it is: its stream refers to it. -errno and
 * @fault. */
int output_file_open(struct output_file *ret, const char *name, struct fault *fault);

/* Completes the file. -errno and @fault if it could not be written; then there is no file. */
int output_file_finish(struct output_file *file, struct fault *fault);

/* Removes what was not finished. */
void output_file_done(struct output_file *file);
