/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes at random over the memory of the process. */
#pragma once

#include <stdint.h>

/* Remembers where memory is; to be called before files cannot be opened any more. */
void damage_init(void);

/* Up to some hundred writes, chosen by @seed: the heap, the stack, data of program and libraries.
 */
void damage_do(uint64_t seed);
