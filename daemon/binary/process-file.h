/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opens a file as a process sees it: in its root directory, or deleted but still mapped. */
#pragma once

#include <stdint.h>

/*
 * A descriptor of the regular file that process @pid knows as @path, or -errno. Never blocks. The
 * path may end in " (deleted)", the kernel's mark of files without a name.
 */
int process_file_open(int32_t pid, const char *path);

/* The same for a file that the process still maps and that has lost its name @path. */
int process_file_open_replaced(int32_t pid, const char *path);

/* The same for the file that it maps at exactly these addresses. */
int process_file_open_range(int32_t pid, uint64_t start, uint64_t end);

/* Decodes, in place, the newlines that /proc/PID/maps escapes in a path. */
void process_file_decode(char *path);
