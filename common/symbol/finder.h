/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds the file of a profile's object on this machine, and its separate debug file.
 *
 * A file must have the object's build-id. An object without a build-id is identified by its path,
 * and by its inode if that is known.
 */
#pragma once

#include "common/elf/file.h"
#include "common/parser/parser.h"
#include "common/profile/profile.h"
#include "common/symbol/symbolizer-types.h"
#include "common/util/fault.h"

/*
 * Opens the file of @object by settings->parser, with its debug file if it needs that and there is
 * one. 0; -ENOMEM; or another negative errno and the reason in @why: -EREMOTEIO, -ECONNREFUSED as
 * parser_open(). *@ret_path is the path of the file, for the caller to free.
 */
int finder_open_object(const struct symbolizer_settings *settings,
		       const struct profile_object *object, struct parser_file **ret,
		       char **ret_path, struct fault *why);
