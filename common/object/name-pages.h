/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Strings by number, of which few are ever set: memory is taken for those that are, in pages. */
#pragma once

#include <stddef.h>

#include "common/util/macro.h"

struct name_pages;

/* For @n strings, all NULL. NULL without memory. */
struct name_pages *name_pages_new(size_t n);
/* Frees the strings, too. */
struct name_pages *name_pages_free(struct name_pages *pages);
DEFINE_CLEANUP(struct name_pages *, name_pages_free);

/* Where string @i is kept, to be read or set; NULL without memory. */
char **name_pages_at(struct name_pages *pages, size_t i);
