/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's own symbols, and its modules', out of /proc/kallsyms or a copy of it.
 *
 * Addresses differ from boot to boot, so the tables handed out count from what objects of profiles
 * count from: the kernel's from _text (or _stext), a module's from where it was loaded.
 */
#pragma once

#include "common/profile/profile.h"
#include "common/symbol/symbol-table.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct kallsyms;

/*
 * @path may be NULL, for /proc/kallsyms, which is then used for objects of the running kernel only.
 * That is opened now and read when needed: what the kernel shows depends on who opened it.
 * 0 or -ENOMEM; that it cannot be opened is said when it is needed.
 */
int kallsyms_new(struct kallsyms **ret, const char *path);
struct kallsyms *kallsyms_free(struct kallsyms *kallsyms);
DEFINE_CLEANUP(struct kallsyms *, kallsyms_free);

/* Gives the memory back that reading several objects in a row shares. */
void kallsyms_forget(struct kallsyms *kallsyms);

/* 0 and a new table; -ENOMEM; or another negative errno and @why: hidden, another kernel, ... */
int kallsyms_read_object(struct kallsyms *kallsyms, const struct profile_object *object,
			 struct symbol_table **ret, struct fault *why);
