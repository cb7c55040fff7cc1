/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The machine code of hot functions, kept for the time when their files are gone: replaced by an
 * update, or in a container that has ended. Each is kept once per build-id, as long as any window
 * refers to the function.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "daemon/database/database.h"
#include "daemon/database/intern.h"
#include "daemon/window/hot-functions.h"

#define STORE_CODE_MAX_FUNCTION HOT_FUNCTIONS_MAX_BYTES

#define N_STORE_CODE 4

/*
 * Reads the code of @function, of @profile, in whole: up to @n bytes to @ret, and *@ret_machine,
 * one of EM_* in elf.h. The number of bytes, 0 if they are not available, or -errno.
 */
typedef int (*store_code_source)(const struct profile *profile,
				 const struct profile_function *function, void *ret, size_t n,
				 uint16_t *ret_machine, void *userdata);

/* A function, as the code kept is found. */
struct store_function {
	const void *build_id; /* of its object */
	size_t n_build_id;    /* bytes */
	uint64_t start;       /* its offset in the object */
	bool untrusted;       /* the object is, and these belong to its key: */
	uint32_t major, minor;
	uint64_t inode, ctime_ns;
};

struct store_code {
	struct database *database;
	struct statement *statements[N_STORE_CODE];
	store_code_source source; /* NULL: nothing is kept */
	void *userdata;
	uint64_t n_bytes;   /* kept */
	uint64_t max_bytes; /* of the database; 0: no limit. An eighth may be code. */
};

/* Leaves source, userdata and max_bytes as they are. 0 or -errno. */
int store_code_init(struct store_code *code, struct database *database);

/*
 * Keeps the hottest functions of @profile that are not kept yet; @functions are their rows. In a
 * transaction of the caller. 0 or -errno.
 */
int store_code_keep(struct store_code *code, const struct profile *profile,
		    const struct interned *functions);

/* The number of bytes written to @ret, at most @n, and *@ret_machine; 0 for none; or -errno. */
int store_code_find(struct store_code *code, const struct store_function *function, void *ret,
		    size_t n, uint16_t *ret_machine);
