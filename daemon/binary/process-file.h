/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opening a file as a process sees it: in its root, or deleted but still mapped by it. */
#pragma once

#include <stdint.h>

/*
 * A descriptor of the regular file that process @pid knows as @path, without ever waiting; or
 * -errno.
 * @path may end in " (deleted)", as the kernel marks those without a name.
 */
int process_file_open(int32_t pid, const char *path);

/* The same of a file that the process still maps, but that has lost the name @path since. */
int process_file_open_replaced(int32_t pid, const char *path);

/* The same of what it maps at exactly these addresses, whatever its name. */
int process_file_open_range(int32_t pid, uint64_t start, uint64_t end);

/* Undoes, in place, what /proc/PID/maps does to a path with a newline in it. */
void process_file_decode(char *path);
