/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which instructions of x86-64 are branches that a processor records of user code, and of what
 * kind. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tests/vm/simpmu/lbr.h"

/* The kind of the instruction of @n bytes; LBR_NONE where it is no branch. */
enum lbr_kind decode_branch(const uint8_t *bytes, size_t n);
