/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From a linker's name to one for people. */
#pragma once

#include <stddef.h>

#define DEMANGLE_MAX 4096 /* bytes of a name, more are cut off */

/*
 * *@ret is a new string: @name (of which @n bytes are read at most) demangled if it is a C++ or
 * Rust name, without the linker's version suffix, as UTF-8 without control characters, and followed
 * by @suffix. 0 or -ENOMEM.
 */
int demangle(char **ret, const char *name, size_t n, const char *suffix);
