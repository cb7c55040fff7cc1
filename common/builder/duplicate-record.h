/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which processors may have their newest branch row twice. */
#pragma once

#include <stdint.h>

/*
 * The depth of the LBR where its newest row may be doubled, as in Skylake and what was made from
 * it; else 0. @cpuid is as perf writes it, "GenuineIntel,6,85,4", or NULL.
 */
uint32_t duplicate_record_depth(const char *cpuid);
