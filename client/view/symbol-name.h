/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Compiler suffixes: a specialized copy of a function is called "work.isra.0" or
 * "work.constprop.3". A comparison of two builds treats it as the function in the source.
 */
#pragma once

#include <stdbool.h>

/* A heap copy of @name without compiler suffixes, or NULL. */
char *symbol_name_strip(const char *name);

/*
 * Whether @name is that of a copy or a part that the compiler made of @function: "work.part.0",
 * "work.constprop.0.cold".
 */
bool symbol_name_is_clone(const char *name, const char *function);
