/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the file in which a JIT compiler has named the functions of a process: perf-PID.map. */
#pragma once

#include "common/parser/parser.h"
#include "common/profile/profile.h"
#include "common/symbol/symbolizer-types.h"
#include "common/util/fault.h"
#include "common/util/file-identity.h"

/*
 * Opens the file of @object, anonymous memory: by settings->open_jit; or else, unless
 * settings->only_open, that in /tmp, below settings->symfs if that is set. The caller or root must
 * own it, and it must be no link, because anybody may put a file there. 0; -ENODATA: not the memory
 * of a process; or an error of finder_open_object() and the reason in @why. *@ret_path is the path
 * of the file, for the caller to free; *@ret_state what it was before it was read, so that what is
 * written meanwhile counts as a change.
 */
int jit_file_open(const struct symbolizer_settings *settings, const struct profile_object *object,
		  struct parser_file **ret, char **ret_path, struct file_identity *ret_state,
		  struct fault *why);
