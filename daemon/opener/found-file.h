/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file that was found and is not opened yet: an O_PATH descriptor, which acts on nothing. */
#pragma once

#include <sys/stat.h>

/* The state of the file without asking its file system anew. 0 or -errno. */
int found_file_stat(int fd, struct stat *ret);

/* Opens it for reading. A descriptor or -errno. */
int found_file_open(int fd);
