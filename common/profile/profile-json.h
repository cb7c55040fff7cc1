/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The JSON form of a profile, exact both ways: what the daemon sends, `branchctl dump` prints, and
 * scripts read. Objects, processes and functions are arrays of objects with named members. The long
 * tables (stacks, branches, blocks) are {"columns": [NAME...], "rows": [[...]...]} to be compact,
 * references between tables are indices (null for none), addresses and offsets "0x..." strings, counts
 * numbers; unknown is null.
 */
#pragma once

#include <stdio.h>

#include "common/profile/profile.h"

/* Writes the sealed @profile, row by row: no copy of it is built in memory. 0 or a negative errno. */
int profile_write_json(const struct profile *profile, FILE *f);

/*
 * Reads one back, sealed. Input is judged, not trusted: an unknown member, an index out of its
 * table, a count below zero are -EINVAL with @fault naming what and where. -ENOMEM.
 */
int profile_read_json(struct profile **ret, const char *text, size_t n_bytes, struct fault *fault);
