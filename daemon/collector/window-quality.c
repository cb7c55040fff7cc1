/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/collector/window-quality.h"

#include "common/util/clock.h"

static struct window_losses read_losses(const struct sampler_counts *counts)
{
	return (struct window_losses){
		.samples = counts->ring_full + counts->no_ring + counts->undecodable,
		.skipped = counts->skipped,
		.records = counts->lost_records,
		.out_of_order = counts->out_of_order,
	};
}

/* Adds @part of the growth since *@accounted to both. A counter that shrinks adds nothing. */
static void catch_up(uint64_t *accounted, uint64_t now, double part, uint64_t *window)
{
	uint64_t n = now > *accounted ? now - *accounted : 0;

	n = part < 1 ? (uint64_t)(part * (double)n) : n;
	*accounted += n;
	*window += n;
}

void window_quality_add_losses(struct window_quality *quality, const struct sampler_counts *now,
			       uint64_t end_ns)
{
	struct window_losses *accounted = &quality->accounted, *window = &quality->losses;
	struct window_losses lost = read_losses(now);
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	double part = 1;

	if (end_ns < now_ns)
		part = end_ns <= quality->accounted_ns ?
			       0 :
			       (double)(end_ns - quality->accounted_ns) /
				       (double)(now_ns - quality->accounted_ns);
	catch_up(&accounted->samples, lost.samples, part, &window->samples);
	catch_up(&accounted->skipped, lost.skipped, part, &window->skipped);
	catch_up(&accounted->records, lost.records, part, &window->records);
	catch_up(&accounted->out_of_order, lost.out_of_order, part, &window->out_of_order);
	end_ns = MIN(end_ns, now_ns);
	quality->accounted_ns = MAX(quality->accounted_ns, end_ns);
}

static void take_stacks(struct window_quality *quality, const struct live_unwinder_counts *now,
			struct profile_counters *ret)
{
	const struct live_unwinder_counts *before = &quality->unwound;
	uint64_t ended[UNWIND_END_N];

	for (size_t i = 0; i < UNWIND_END_N; i++) {
		ended[i] = now->ended[i] - before->ended[i];
		ret->stacks_unwound += ended[i];
	}
	ret->stacks_complete += ended[UNWIND_COMPLETE];
	ret->stacks_no_table += ended[UNWIND_NO_TABLE];
	ret->stacks_copy_end += ended[UNWIND_STACK];
	ret->stacks_no_return += ended[UNWIND_NO_RETURN];
	ret->stacks_bad_frame += ended[UNWIND_FRAME];
	ret->stacks_depth_limit += ended[UNWIND_DEPTH];
	ret->stacks_by_pointer += now->n_stacks_by_fp - before->n_stacks_by_fp;
	ret->stacks_32_bit += now->n_32_bit - before->n_32_bit;
	quality->unwound = *now;
}

void window_quality_take(struct window_quality *quality, const struct live_unwinder_counts *stacks,
			 struct profile_counters *ret)
{
	ret->lost_samples += quality->losses.samples;
	ret->skipped += quality->losses.skipped;
	ret->lost_records += quality->losses.records;
	ret->out_of_order += quality->losses.out_of_order;
	ret->stacks_truncated += quality->n_truncated;
	ret->stacks_depth_limit += quality->n_depth_limit;
	ret->stacks_since_switch += quality->n_since_switch;
	take_stacks(quality, stacks, ret);
	quality->losses = (struct window_losses){};
	quality->n_truncated = quality->n_depth_limit = quality->n_since_switch = 0;
}
