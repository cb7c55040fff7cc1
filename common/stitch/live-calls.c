/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/stitch/live-calls.h"

#include <endian.h>
#include <string.h>

#include "common/record/callchain.h"
#include "common/util/macro.h"

#define WORD sizeof(uint64_t)

/* The bytes of a call. */
#define MIN_CALL 2
#define MAX_CALL 15

static bool is_return_of(uint64_t address, const struct stitched_call *call)
{
	return address - call->from - MIN_CALL <= MAX_CALL - MIN_CALL;
}

/* The index of the first caller in the call chain, or its end. */
static uint32_t find_callers(const struct sample *s)
{
	for (uint32_t i = 0; i < s->n_callchain; i++)
		if (s->callchain[i] == PERF_CONTEXT_USER)
			return MIN(i + 2, s->n_callchain);
	return s->n_callchain;
}

/*
 * Passes the calls that the call chain has: *@end is the number of the others. Those between were
 * left: *@n_left. False if the chain has a caller that is none of the calls.
 */
static bool pass_chain(const struct sample *s, const struct stitched *stitched, size_t *end,
		       size_t *n_left)
{
	for (uint32_t i = find_callers(s); i < s->n_callchain; i++) {
		while (*end > 0 && !is_return_of(s->callchain[i], &stitched->callers[*end - 1])) {
			--*end;
			++*n_left;
		}
		if (*end == 0)
			return false;
		--*end;
	}
	return true;
}

/* The number of calls before @end whose return addresses lie in the rest of the stack, in order. */
static size_t count_found(const struct sample *s, const struct stitched *stitched, size_t end)
{
	uint32_t at = s->n_unwound;
	uint64_t word;
	size_t n = 0;

	for (; n < end && at <= s->n_user_stack && s->n_user_stack - at >= WORD; at += WORD) {
		memcpy(&word, s->user_stack + at, WORD);
		n += is_return_of(le64toh(word), &stitched->callers[end - 1 - n]);
	}
	return n;
}

struct live_calls live_calls_find(const struct sample *sample, const struct stitched *stitched)
{
	struct live_calls live = { .end = stitched->n_callers };
	size_t n_left = 0;

	if (!pass_chain(sample, stitched, &live.end, &n_left))
		return (struct live_calls){};
	live.any_left = n_left > 0;
	if (sample->unwound == SAMPLE_UNWOUND_PART)
		live.n = count_found(sample, stitched, live.end);
	else if (sample->unwound == SAMPLE_UNWOUND_COPY && !live.any_left && !stitched->jumps_out)
		live.n = live.end;
	return live;
}
