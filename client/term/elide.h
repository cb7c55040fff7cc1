/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Making long names fit a terminal, by leaving out what says least in them.
 */
#pragma once

#include <stddef.h>

/*
 * A heap copy of a demangled @name or a place, of not more than @room bytes: without its template
 * arguments and parameters ("ns::Table<...>::add(...)+0x1f"), and if that is not enough without
 * outer namespaces ("...::add(...)+0x1f"), and at last cut before its offset ("...::a...+0x1f").
 * NULL when memory ran out.
 */
char *elide_name(const char *name, size_t room);

/* How many bytes of it elide_name() needs at least: its offset is never cut. */
size_t elide_name_least(const char *name);

/* As elide_name(), of a path, or of "path:line", of which the end is kept
 * (".../bits/stl_iterator.h:88"). */
char *elide_path(const char *path, size_t room);
