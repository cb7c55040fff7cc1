/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What somebody has to write to mean one object of a profile and no other.
 */
#pragma once

#include "common/profile/profile.h"

/*
 * The first of these that no other object is called: the last component of its path, the path, the
 * build-id. Where all are shared with another, the path. A heap string, or NULL.
 */
char *object_name_format(const struct profile *profile, uint32_t object);
