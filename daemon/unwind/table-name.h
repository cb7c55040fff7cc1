/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The name of a file of the cache: BUILD-ID-MAJOR-MINOR-INODE-CTIME-SIZE.unwind, in hexadecimal
 * digits. So the directory itself says which object a table is of, and from which file it was made:
 * the same file, unchanged, needs not be opened to find its table.
 */
#pragma once

#include <stdbool.h>

#include "common/object/build-id.h"
#include "common/util/file-identity.h"

#define TABLE_NAME_BYTES (BUILD_ID_HEX_SIZE + 96)

struct table_name {
	struct build_id id;
	struct file_identity file; /* of root, and trusted */
};

void table_name_format(char ret[static TABLE_NAME_BYTES], const struct table_name *name);

/* False for what table_name_format() does not write. */
bool table_name_parse(const char *text, struct table_name *ret);
