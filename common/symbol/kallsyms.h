/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The symbols of the kernel and its modules, from /proc/kallsyms or a copy of it.
 *
 * Addresses change at each boot, so the offsets in the tables are those of the profile's objects:
 * from _text (or _stext) in the kernel, from the load address in a module.
 */
#pragma once

#include "common/object/symbol-table.h"
#include "common/profile/profile.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct kallsyms;

/* Opens /proc/kallsyms: a descriptor, or -errno. */
typedef int (*kallsyms_opener)(void *userdata);

/*
 * @path may be NULL for /proc/kallsyms, which is used for objects of the running kernel only. The
 * file is opened now, because the kernel shows addresses by the rights at that time, and read when
 * needed; or, without @path, by @open each time it is needed, if that is not NULL; a copy that is
 * not the newest is as good at first. 0 or -ENOMEM. A
 * failure to open it is reported when it is needed.
 */
int kallsyms_new(struct kallsyms **ret, const char *path, kallsyms_opener open, void *userdata);
struct kallsyms *kallsyms_free(struct kallsyms *kallsyms);
DEFINE_CLEANUP(struct kallsyms *, kallsyms_free);

/* Frees the memory that reading several objects in a row shares. */
void kallsyms_forget(struct kallsyms *kallsyms);

/* 0 and a new table; -ENOMEM; or another negative errno and the reason in @why. */
int kallsyms_read_object(struct kallsyms *kallsyms, const struct profile_object *object,
			 struct symbol_table **ret, struct fault *why);
