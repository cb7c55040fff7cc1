/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An unambiguous name for an object of a profile.
 */
#pragma once

#include "common/profile/profile.h"

/*
 * The first name that is unique: the last component of the path, the path, the build-id. If
 * none is, the path. A heap string, or NULL.
 */
char *object_name_format(const struct profile *profile, uint32_t object);
