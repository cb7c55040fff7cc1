/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Build-ids: the linker's name for one very build of a file, out of ELF notes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"

#define BUILD_ID_HEX_SIZE (2 * PROFILE_BUILD_ID_MAX + 1)

struct build_id {
	uint8_t bytes[PROFILE_BUILD_ID_MAX]; /* the kernel reports no more than these either */
	uint8_t n;                           /* 0: none */
};

/*
 * Looks through @n bytes of notes, aligned to 4 or 8 bytes, in this machine's byte order. True and
 * *@ret, or false where no (sane) build-id is among them. One longer than its place is cut.
 */
bool build_id_from_notes(const void *notes, size_t n, size_t align, struct build_id *ret);

/* The same of a file that holds nothing but notes, as those in sysfs do. */
bool build_id_from_notes_file(const char *path, struct build_id *ret);

bool build_id_equal(const struct build_id *id, const uint8_t *bytes, size_t n);

/* Writes it as hexadecimal digits, "none" where there is none. */
const char *build_id_format(char hex[static BUILD_ID_HEX_SIZE], const uint8_t *bytes, size_t n);
