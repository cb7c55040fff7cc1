/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Turns a linker's name into a readable one. */
#pragma once

#include <stddef.h>

#define DEMANGLE_MAX 4096 /* bytes of a name; longer names are truncated */

/*
 * *@ret is a new string: @name (at most @n bytes), demangled if it is a C++ or Rust name, without
 * the linker's version suffix, as UTF-8 without control characters, followed by @suffix. 0 or
 * -ENOMEM.
 */
int demangle(char **ret, const char *name, size_t n, const char *suffix);
