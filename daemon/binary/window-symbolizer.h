/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Symbolizes the profile of a window soon after it was taken. Most processes still run then, so
 * that /proc/PID leads to their files, also in a container and after a removal. The files of
 * processes that have ended are among those that the collector kept open.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "common/util/macro.h"
#include "daemon/binary/open-files.h"

struct window_symbolizer;

/* Borrows @open_files, which is searched first; or NULL. 0 or -ENOMEM. */
int window_symbolizer_new(struct window_symbolizer **ret, struct open_files *open_files);
struct window_symbolizer *window_symbolizer_free(struct window_symbolizer *symbolizer);
DEFINE_CLEANUP(struct window_symbolizer *, window_symbolizer_free);

/* Symbolizes and finalizes @profile. 0 or -ENOMEM. */
int window_symbolizer_run(struct window_symbolizer *symbolizer, struct profile *profile);

/*
 * Reads the code of @function of the finalized @profile: up to @n bytes into @ret, and
 * *@ret_machine, one of EM_* in elf.h. The number of bytes, 0 if the code is not available, or
 * -ENOMEM.
 */
int window_symbolizer_read_code(struct window_symbolizer *symbolizer, const struct profile *profile,
				const struct profile_function *function, void *ret, size_t n,
				uint16_t *ret_machine);

/* The number of objects without symbols. */
size_t window_symbolizer_count_problems(const struct window_symbolizer *symbolizer);
