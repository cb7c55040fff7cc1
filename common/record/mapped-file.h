/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file's bytes in memory. What cannot be mapped (a pipe) is copied to an unnamed temporary file
 * first, so that a reader need not care, and may read twice.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/util/fault.h"

struct mapped_file {
	const char *data;
	size_t n_bytes;
};

/* -errno, and @fault names @path and what is wrong with it. */
int mapped_file_open(struct mapped_file *ret, const char *path, struct fault *fault);
/* Of a large file, another thread gives back the memory while the caller goes on. */
void mapped_file_close(struct mapped_file *file);

/* Tells the kernel that the bytes from @at on are read next: costs less than a fault for each page.
 */
void mapped_file_read_ahead(const struct mapped_file *file, size_t at, size_t n_bytes);
