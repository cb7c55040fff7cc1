/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Gives the functions of a profile their names, while the processes it is of may still be there: the
 * files of one in a container, or deleted, are found through /proc/PID; those of processes gone by then,
 * among the files that the collector kept open.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "common/util/macro.h"
#include "daemon/open-files.h"

struct namer;

/* Borrows @open_files, where files are sought first; or NULL. */
int namer_new(struct namer **ret, struct open_files *open_files);
struct namer *namer_free(struct namer *namer);
DEFINE_CLEANUP(struct namer *, namer_free);

/* Names and seals @profile, which is not sealed. 0 or -ENOMEM. */
int namer_name(struct namer *namer, struct profile *profile);

/*
 * Reads the code of @function of the sealed @profile: up to @n bytes to @ret, and *@ret_machine, one of EM_* in elf.h.
 * The number of bytes, 0 where they are not to be had, or -ENOMEM.
 */
int namer_read_code(struct namer *namer, const struct profile *profile,
		    const struct profile_function *function, void *ret, size_t n,
		    uint16_t *ret_machine);

/* How many objects gave no symbols. */
size_t namer_count_problems(const struct namer *namer);
