/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Build-ids: the linker's identifier of one build of a file, from ELF notes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"

#define BUILD_ID_HEX_SIZE (2 * PROFILE_BUILD_ID_MAX + 1)

struct build_id {
	uint8_t bytes[PROFILE_BUILD_ID_MAX]; /* the kernel reports no more bytes either */
	uint8_t n;                           /* 0: none */
};

/*
 * Finds the build-id in @n bytes of notes, aligned to 4 or 8 bytes, in this machine's byte order.
 * True and *@ret, or false. A build-id of more than PROFILE_BUILD_ID_MAX bytes is truncated.
 */
bool build_id_from_notes(const void *notes, size_t n, size_t align, struct build_id *ret);

/* The same for a file of notes only, as in sysfs. */
bool build_id_from_notes_file(const char *path, struct build_id *ret);

bool build_id_equal(const struct build_id *id, const uint8_t *bytes, size_t n);

/* Formats a build-id as hexadecimal digits; "none" if @n is 0. */
const char *build_id_format(char hex[static BUILD_ID_HEX_SIZE], const uint8_t *bytes, size_t n);
