/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The JSON form of a profile, exact both ways: what the daemon sends, `branchctl dump` prints, and
 * scripts read.
 *
 *   {"profile": 3,
 *    "info": {"mode", "event", "hostname", "os_release", "cpu", "n_cpus", "depth", "start_ns",
 *             "end_ns"},
 *    "counters": {a number for each of PROFILE_COUNTERS},
 *    "processes": [{"pid", "start_ns", "comm", "executable", "unit", "uid", "samples"}...],
 *    "objects": [{"kind", "path", "build_id", "major", "minor", "inode", "base"}...],
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
 * "profile", the version of this form, comes first; the order of the others is free. All members
 * are there; what is unknown or none is null. References between tables are row numbers from 0.
 * "kind" of an object is one of "file", "kernel", "module", "vdso", "memory", of a branch a number,
 * see branch-kind.h. Offsets, "start", "base" and
 * "fingerprint" are strings "0x...", "build_id" is one of hexadecimal digits. All else is numbers;
 * one of 2^63 or more, which most readers of JSON cannot hold, is a string of its decimal digits.
 *
 * Names and paths may be any bytes; those that are UTF-8 look as they are, see json-text.h for
 * those that are not.
 */
#pragma once

#include <stdio.h>

#include "common/profile/profile.h"

/*
 * Writes the sealed @profile, row by row (no copy of it is built in memory), without a newline at
 * the end. 0, -ENOMEM, or -EIO where @f took no more.
 */
int profile_json_write(const struct profile *profile, FILE *f);

/*
 * Reads one back, sealed. Input is judged, not trusted: an unknown or missing member, an index out
 * of its table, a stack or
 * stream before its parent or of another process than it, a count below zero are
 * -EINVAL with @fault naming what and where. -ENOMEM.
 */
int profile_json_read(struct profile **ret, const char *text, size_t n_bytes, struct fault *fault);
