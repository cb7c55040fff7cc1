/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The names of clones: a compiler that makes a special version of a function calls it "work.isra.0"
 * or "work.constprop.3". To who compares two builds it is the function that was written.
 */
#pragma once

/* A copy of @name without the marks of a clone, for the caller to free. NULL for want of memory. */
char *symbol_name_strip(const char *name);
