/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which file on this disk is the object of a profile, and which its separate debug file.
 *
 * A build-id decides. Without one the path has to do, and its inode where it is known.
 */
#pragma once

#include "common/profile/profile.h"
#include "common/symbol/elf-file.h"
#include "common/symbol/symbolizer-types.h"
#include "common/util/fault.h"

/*
 * Opens the file of @object. 0; -ENOMEM; or another negative errno and @why in words: not found,
 * another build-id, no ELF file. @ret_path (or NULL) is the path it was found at, to be freed.
 */
int finder_open_object(const struct symbolizer_settings *settings,
		       const struct profile_object *object, struct elf_file **ret, char **ret_path,
		       struct fault *why);

/* The separate debug file of @file, itself at @path: a descriptor to be closed, or -1. */
int finder_open_debug(const struct symbolizer_settings *settings, const struct elf_file *file,
		      const char *path);
