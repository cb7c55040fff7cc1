/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which processors may report their newest branch record twice. */
#pragma once

#include <stdint.h>

/* The depth of the LBR where its newest record may be a duplicate, as in Skylake and its
 * successors; else 0. @cpuid is as perf writes it, "GenuineIntel,6,85,4", or NULL. */
uint32_t duplicate_record_depth(const char *cpuid);
