/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A profile as JSON, without loss in either direction. The daemon sends this form, `branchctl dump`
 * prints it, scripts read it.
 *
 *   {"profile": 7,
 *    "info": {"mode", "event", "hostname", "os_release", "cpu", "n_cpus", "depth", "start_ns",
 *             "end_ns"},
 *    "counters": {a number for each of PROFILE_COUNTERS},
 *    "processes": [{"pid", "start_ns", "comm", "executable", "unit", "uid", "restricted",
 *                   "samples", "gone"}...],
 *    "objects": [{"kind", "path", "build_id", "major", "minor", "inode", "base",
 *                 "untrusted", "ctime_ns"}...],
 *    "functions": [{"object", "start", "size", "name", "fingerprint"}...],
 *    "stacks": {"columns": ["parent", "process", "object", "offset", "samples", "stitched",
 *                           "weight", "pruned"], "rows": [[...]...]},
 *    "streams": {"columns": ["parent", "process", "from_object", "from", "to_object", "to", "hits",
 *                            "pruned", "cycles"], "rows": ...},
 *    "branches": {"columns": ["process", "from_object", "from", "to_object", "to", "kind", "taken",
 *                             "mispredicted", "predicted", "aborted", "cycles", "cycles_rows"],
 *                 "rows": ...},
 *    "blocks": {"columns": ["process", "object", "start", "end", "runs", "cycles", "cycles_rows"],
 *               "rows": ...}}
 *
 * A table whose rows are estimated, because samples or their stacks were left out (CaptureShare=,
 * HotShare=), has one more column, "variance": what that adds to the variance of a row's "samples",
 * "hits", "taken" or "runs".
 *
 * "profile" is the version of the format and comes first; the order of the other members is free.
 * Version 3 had no "restricted", "untrusted" and "ctime_ns". It is read, too: its processes are
 * restricted, because nothing else is known of them; counters it lacks are 0. Before version 6
 * there was no "gone", before version 7 no "variance" and no counter of what is estimated. All
 * members are present; unknown values are null. References between tables are row numbers from 0.
 * The "kind" of an object is "file", "kernel", "module", "vdso" or "memory"; the "kind" of a branch
 * is a number, see branch-kind.h. Offsets, "start", "base" and "fingerprint" are strings "0x...";
 * "build_id" is a string of hexadecimal digits. "restricted" and "untrusted" are true or false. All
 * other values are numbers. A number of 2^63 or more, which most JSON readers cannot hold, is a
 * string of its decimal digits.
 *
 * Names and paths may have any bytes. Those in UTF-8 stay as they are; for others see json-text.h.
 */
#pragma once

#include <stdio.h>

#include "common/profile/profile.h"

/*
 * Writes the finalized @profile row by row, without a copy in memory and without a newline at the
 * end. 0, -ENOMEM, or -EIO where writing to @f failed.
 */
int profile_json_write(const struct profile *profile, FILE *f);

/*
 * *@ret is the finalized profile that @text describes. -ENOMEM; or -EINVAL with a @fault that says
 * what is wrong and where, for example another version of the format, an unknown or missing member,
 * an index outside of its table, a stack or stream before its parent or of another process than its
 * parent, a count below zero.
 */
int profile_json_read(struct profile **ret, const char *text, size_t n_bytes, struct fault *fault);
/* The same, but the profile is not finalized yet: the text may be freed before. */
int profile_json_parse(struct profile **ret, const char *text, size_t n_bytes, struct fault *fault);
