/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The addresses of a call chain, the leaf first. The kernel writes markers between them, which say
 * whether the next addresses are the user's or the kernel's, and zeros if it could not follow the
 * stack: neither is a frame. The first address, and the first behind a marker (where the user's
 * code entered the kernel), is where that code was; all others are return addresses, and one less
 * lies in the call.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <linux/perf_event.h>

static inline bool callchain_is_marker(uint64_t address)
{
	return address >= (uint64_t)PERF_CONTEXT_MAX;
}

static inline bool callchain_is_frame(uint64_t address)
{
	return address != 0 && !callchain_is_marker(address);
}

static inline bool callchain_is_return(const uint64_t *chain, uint32_t i)
{
	return i > 0 && !callchain_is_marker(chain[i - 1]);
}
