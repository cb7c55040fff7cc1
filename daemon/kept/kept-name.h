/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The name of a file that is kept: BUILD-ID-MAJOR-MINOR-INODE-CTIME-SIZE.SUFFIX, in hexadecimal
 * digits. So the directory itself says which object it is about, and from which file it was made:
 * the same file, unchanged, needs not be opened to find it.
 */
#pragma once

#include <stdbool.h>

#include "common/object/build-id.h"
#include "common/util/file-identity.h"

#define KEPT_NAME_BYTES (BUILD_ID_HEX_SIZE + 96)

struct kept_name {
	struct build_id id;
	struct file_identity file; /* of root, and trusted */
};

/* @suffix: at most eight bytes. */
void kept_name_format(char ret[static KEPT_NAME_BYTES], const struct kept_name *name,
		      const char *suffix);

/* False for what kept_name_format() does not write. */
bool kept_name_parse(const char *text, const char *suffix, struct kept_name *ret);
