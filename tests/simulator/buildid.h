/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* buildid: the GNU build-id of an ELF file, and of the vDSO. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define BUILDID_BYTES_MAX 20

/* How many bytes there are, or a negative errno: -ENOENT if the file has no build-id, -ENOEXEC if
 * it is no 64-bit ELF. */
int buildid_read(const char *path, uint8_t id[BUILDID_BYTES_MAX]);

/* The same of the vDSO. -ENOENT if there is none. */
int buildid_read_vdso(uint8_t id[BUILDID_BYTES_MAX]);
