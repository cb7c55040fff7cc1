/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes a file that has its name only once it is complete, so that none is half there after a
 * kill. None is synchronized with the disk: a crash of the machine may damage it, which its
 * checksum tells.
 */
#pragma once

#include <stddef.h>

#include "common/object/build-id.h"

/* What to keep: @write writes its @n_bytes. 0 or -errno. */
struct kept_content {
	size_t n_bytes;
	int (*write)(int fd, const struct build_id *id, const void *what);
	const void *what;
};

/* In @directory; the file is called @part until it is complete, and then @name. 0 or -errno. */
int kept_write(int directory, const char *part, const char *name, const struct build_id *id,
	       const struct kept_content *content);
