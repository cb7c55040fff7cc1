/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies what a process has mapped, because reading it may hang: the process decides when its
 * memory is locked. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * A descriptor, at its begin, of the lines of /proc/@pid/maps about executable memory, at most
 * OPENER_MAX_MAPPINGS; and the target of /proc/@pid/exe. -errno.
 */
int maps_copy(int32_t pid, char *ret_executable, size_t n);
