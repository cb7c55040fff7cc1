/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Downloads debug files and programs by their build-id from the debuginfod servers that the user
 * names in DEBUGINFOD_URLS, and from nowhere else. The library keeps what it got in
 * ~/.cache/debuginfod_client.
 *
 * Who waits sees on a terminal what is downloaded. A download ends when nothing came for
 * DEBUGINFOD_TIMEOUT (15 s), after DEBUGINFOD_MAXTIME (120 s), at DEBUGINFOD_MAXSIZE (1 GiB), or by
 * Ctrl-C. After a download that failed so, or without an answer, a line on stderr says why, and
 * nothing more is downloaded: names are missing then, as without a server.
 *
 * A server may send anything. The caller checks the build-id, and reads the file as a stranger's.
 */
#pragma once

#include "common/symbol/symbolizer-types.h"
#include "common/util/macro.h"

struct downloads;

/* 0, with *@ret NULL without DEBUGINFOD_URLS or the library; or -ENOMEM. */
int downloads_new(struct downloads **ret);
struct downloads *downloads_free(struct downloads *downloads);
DEFINE_CLEANUP(struct downloads *, downloads_free);

/* symbolizer_settings.fetch; @userdata is the struct downloads. A descriptor or -errno. */
int downloads_fetch(const struct symbolizer_wanted *wanted, void *userdata);
