/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pool of strings, each kept once: equal strings of one pool are equal pointers. */
#pragma once

struct strings;

int strings_new(struct strings **ret);
struct strings *strings_free(struct strings *strings);

/* Borrows the pool's copy of @s, valid as long as the pool; NULL when memory ran out. */
const char *strings_intern(struct strings *strings, const char *s);
