/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Shortens long names for a terminal: the least informative parts go first. */
#pragma once

#include <stddef.h>

/*
 * A heap copy of a demangled @name or location in at most @room bytes: first without template
 * arguments and parameters ("ns::Table<...>::add(...)+0x1f"), then without outer namespaces
 * ("...::add(...)+0x1f"), then with a shorter name before its offset ("...::a...+0x1f") or its
 * source lines ("a... file.c:7..9"). NULL if out of memory.
 */
char *elide_name(const char *name, size_t room);

/* The fewest bytes that elide_name() needs: it keeps the offset. */
size_t elide_name_least(const char *name);

/* The same of a path or "path:line"; it keeps the end (".../bits/stl_iterator.h:88"). */
char *elide_path(const char *path, size_t room);
