/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Gives the functions of a profile their names, while the processes it is of may still be there:
 * the files of one in a container, or deleted, are found through /proc/PID; those of processes gone
 * by then, among the files that the collector kept open.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "common/util/macro.h"
#include "daemon/binary/open-files.h"

struct window_symbolizer;

/* Borrows @open_files, where files are sought first; or NULL. */
int window_symbolizer_new(struct window_symbolizer **ret, struct open_files *open_files);
struct window_symbolizer *window_symbolizer_free(struct window_symbolizer *namer);
DEFINE_CLEANUP(struct window_symbolizer *, window_symbolizer_free);

/* Names and seals @profile, which is not sealed. 0 or -ENOMEM. */
int window_symbolizer_name(struct window_symbolizer *namer, struct profile *profile);

/*
 * Reads the code of @function of the sealed @profile: up to @n bytes to @ret, and *@ret_machine,
 * one of EM_* in elf.h. The number of bytes, 0 where they are not to be had, or -ENOMEM.
 */
int window_symbolizer_read_code(struct window_symbolizer *namer, const struct profile *profile,
				const struct profile_function *function, void *ret, size_t n,
				uint16_t *ret_machine);

/* How many objects gave no symbols. */
size_t window_symbolizer_count_problems(const struct window_symbolizer *namer);
