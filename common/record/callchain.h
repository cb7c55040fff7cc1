/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What stands in a call chain, the leaf first. The kernel writes markers between addresses, to say
 * of which kind the next ones are, and of a stack that it could not follow there may be zeros:
 * neither is a frame. The first address, and the first behind a marker (where the user's code
 * entered the kernel), is where that code was; all others are return addresses, and one less lies
 * in the call.
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
