/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the helper programs of branchd are: branchd-opener, branchd-parser, branchd-events. They
 * are started by branchd and branchctl, never by a user.
 */
#pragma once

#include <stddef.h>

/*
 * Writes the path of helper @name ("parser" for branchd-parser) into @ret: in $BRANCHD_LIBEXEC if
 * that is not empty; else in ../lib/branchd beside the directory of the running program, or in the
 * build tree of the running program. Takes only a file of root or of the present user. 0; -ENOENT;
 * -ENAMETOOLONG.
 */
int libexec_find(const char *name, char *ret, size_t n);
