/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/stitch/stack.h"

#include <errno.h>
#include <stdlib.h>

#include "common/record/callchain.h"
#include "common/stitch/live-calls.h"
#include "common/util/array.h"

static void add_frame(struct stack *stack, uint64_t address, uint64_t place)
{
	stack->frames[stack->n++] = (struct stack_frame){ address, place };
}

static int reserve(struct stack *stack, size_t n)
{
	return ARRAY_RESERVE(&stack->frames, &stack->cap, stack->n + n);
}

/* Adds the frames of the chain, from the leaf up to but not including number @end. */
static int add_chain(struct stack *stack, const struct sample *s, uint32_t end)
{
	if (reserve(stack, end) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < end; i++) {
		uint64_t address = s->callchain[i];

		if (callchain_is_frame(address))
			add_frame(stack, address, address - callchain_is_return(s->callchain, i));
	}
	return 0;
}

/* The index of the user's own address in the chain, which follows its marker; or the end. */
static uint32_t find_user(const struct sample *s)
{
	for (uint32_t i = 0; i < s->n_callchain; i++)
		if (s->callchain[i] == PERF_CONTEXT_USER)
			return i + 1;
	return s->n_callchain;
}

/*
 * Adds the part that the records do not show: the kernel's frames, and the address in the user's
 * code. If that address is unknown, as in the kernel, it is in the function called last. The
 * callers of the user's code in the chain are ignored, as perf does (tools/perf/util/machine.c,
 * resolve_lbr_callchain_sample), which always begins with the function called last. *@ret_ip is the
 * user's address.
 */
static int add_leaf(struct stack *stack, const struct sample *s, uint64_t *ret_ip)
{
	uint32_t user = find_user(s);
	bool has_user = user < s->n_callchain;

	if (add_chain(stack, s, MIN(user + 1, s->n_callchain)) < 0 || reserve(stack, 2) < 0)
		return -ENOMEM;
	if (has_user) {
		*ret_ip = s->callchain[user];
		return 0;
	}
	if (stack->n == 0)
		add_frame(stack, s->ip, s->ip);
	*ret_ip = s->ip;
	if (!address_is_kernel(s->ip))
		return 0;
	*ret_ip = s->n_rows > 0 ? s->rows[0].to : 0;
	if (s->n_rows > 0)
		add_frame(stack, s->rows[0].to, s->rows[0].to);
	return 0;
}

static int add_rows(struct stack *stack, const struct sample *s)
{
	if (reserve(stack, s->n_rows) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n_rows; i++)
		if (s->rows[i].from != 0)
			add_frame(stack, s->rows[i].from, s->rows[i].from);
	return 0;
}

/* Adds the call chain, which was unwound, and where it does not go on, the calls that do. */
static int add_unwound(struct stack *stack, struct stitch *stitch, const struct event *event)
{
	const struct sample *s = &event->sample;
	uint32_t user = find_user(s);
	struct stitched stitched;
	struct live_calls live;
	int r;

	if (add_chain(stack, s, s->n_callchain) < 0)
		return -ENOMEM;
	if (!stitch || s->unwound == SAMPLE_UNWOUND_LATE)
		return 0;
	r = stitch_add(stitch, event, user < s->n_callchain ? s->callchain[user] : 0, &stitched);
	if (r < 0)
		return r;
	live = live_calls_find(s, &stitched);
	if (live.any_left)
		stitch_note_left(stitch, event->pid);
	if (reserve(stack, live.n) < 0)
		return -ENOMEM;
	for (size_t i = 1; i <= live.n; i++) {
		add_frame(stack, stitched.callers[live.end - i].from,
			  stitched.callers[live.end - i].from);
		stack->n_stitched += live.end - i < stitched.n_stitched;
	}
	return 0;
}

int stack_fill_above(struct stack *stack, struct stitch *stitch, const struct event *event,
		     struct stitched *ret)
{
	const struct sample *s = &event->sample;
	uint64_t ip;
	int r;

	*ret = (struct stitched){ 0 };
	stack->n = stack->n_stitched = 0;
	if (!s->call_stack || (!stitch && s->n_rows == 0))
		return add_chain(stack, s, s->n_callchain);
	if (s->unwound != SAMPLE_NOT_UNWOUND)
		return add_unwound(stack, stitch, event);
	if (add_leaf(stack, s, &ip) < 0)
		return -ENOMEM;
	if (!stitch)
		return add_rows(stack, s);
	r = stitch_add(stitch, event, ip, ret);
	stack->n_stitched = ret->n_stitched;
	return r;
}

int stack_fill(struct stack *stack, struct stitch *stitch, const struct event *event)
{
	struct stitched stitched;
	int r = stack_fill_above(stack, stitch, event, &stitched);

	if (r < 0)
		return r;
	if (reserve(stack, stitched.n_callers) < 0)
		return -ENOMEM;
	for (size_t i = stitched.n_callers; i-- > 0;)
		add_frame(stack, stitched.callers[i].from, stitched.callers[i].from);
	return 0;
}

int stack_push(struct stack *stack, uint64_t address, uint64_t place)
{
	if (reserve(stack, 1) < 0)
		return -ENOMEM;
	add_frame(stack, address, place);
	return 0;
}

void stack_drop_user(struct stack *stack)
{
	while (stack->n > 0 && !address_is_kernel(stack->frames[stack->n - 1].address))
		stack->n--;
}

void stack_done(struct stack *stack)
{
	free(stack->frames);
	*stack = (struct stack){ 0 };
}
