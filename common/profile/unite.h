/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One object for each build-id.
 *
 * A file may have several paths: of containers, of other names, from before a removal. A profile
 * keeps the paths apart, because each may be known to some users only: first it is filtered for who
 * asks, then its objects are united.
 */
#pragma once

#include "common/profile/profile.h"

/*
 * Makes one object of those that profile_same_object() says are the same: it has the first of their
 * paths. A finalized profile is finalized again. 0, or -ENOMEM with a valid profile.
 */
int profile_unite(struct profile *profile);
