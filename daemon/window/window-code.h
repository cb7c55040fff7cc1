/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Machine code of a window's hottest functions, read while their files were there. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "common/util/macro.h"

#define WINDOW_CODE_MAX_BYTES (256u << 10) /* one more function is dropped */

/* Of one function. */
struct code_piece {
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
	uint8_t n_build_id;
	uint64_t inode, ctime_ns; /* of an untrusted file; else 0 */
	uint16_t machine;         /* one of EM_* in elf.h */
	uint64_t start;           /* of the function in its object */
	size_t n_bytes;
	uint8_t *bytes;
};

struct window_code {
	struct code_piece *pieces;
	size_t n, cap, n_bytes;
};

/* NULL: no memory. */
struct window_code *window_code_new(void);
struct window_code *window_code_free(struct window_code *code);
DEFINE_CLEANUP(struct window_code *, window_code_free);

/* Copies the @n bytes of @function of @profile, unless there is no room. 0 or -ENOMEM. */
int window_code_add(struct window_code *code, const struct profile *profile,
		    const struct profile_function *function, uint16_t machine, const void *bytes,
		    size_t n);

/* The code of @function of @profile; NULL: it is not there. @code may be NULL. */
const struct code_piece *window_code_find(const struct window_code *code,
					  const struct profile *profile,
					  const struct profile_function *function);

/* The pieces of both, as far as there is room, and of either if the other is NULL; takes over both.
 */
struct window_code *window_code_join(struct window_code *a, struct window_code *b);
