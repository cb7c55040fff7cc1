/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An unambiguous name for an object of a profile.
 */
#pragma once

#include <stdbool.h>

#include "common/profile/profile.h"

/*
 * The first name that is unique: the last component of the path, the path, the build-id. If
 * none is, the path. A heap string, or NULL.
 */
char *object_name_format(const struct profile *profile, uint32_t object);

/* Whether a file of that path is one that packages install: below /usr but not /usr/local, or in
 * one of the folders that were moved there. Of others nobody has debug symbols but who built them.
 */
bool object_name_is_packaged(const char *path);
