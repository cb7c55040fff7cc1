/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/unwind/kept-samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct kept_samples {
	uint8_t *memory; /* NULL until the first sample */
	size_t n_bytes, max_bytes, n;
};

int kept_samples_new(struct kept_samples **ret, size_t max_bytes)
{
	struct kept_samples *samples = calloc(1, sizeof(*samples));

	if (!samples)
		return -ENOMEM;
	samples->max_bytes = max_bytes;
	*ret = samples;
	return 0;
}

static int drop(const struct kept_sample *sample, void *userdata)
{
	return 1;
}

struct kept_samples *kept_samples_free(struct kept_samples *samples)
{
	if (!samples)
		return NULL;
	kept_samples_for_each(samples, drop, NULL);
	free(samples->memory);
	free(samples);
	return NULL;
}

static size_t round_up(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

static size_t count_registers(const struct sample *s)
{
	return (size_t)__builtin_popcountll(s->user_registers_mask);
}

/* The arrays of a sample: its branch records, call chain, registers, and stack bytes. */
static size_t arrays_bytes(const struct sample *s)
{
	return s->n_rows * sizeof(*s->rows) +
	       (s->n_callchain + count_registers(s)) * sizeof(uint64_t) + round_up(s->n_user_stack);
}

/* Lets the copy's pointers point to the arrays behind it, as it may have moved. */
static void point_to_arrays(struct kept_sample *kept)
{
	struct sample *s = &kept->event.sample;

	s->rows = (const struct branch_record *)(kept + 1);
	s->callchain = (const uint64_t *)(s->rows + s->n_rows);
	s->user_registers = s->callchain + s->n_callchain;
	s->user_stack = (const uint8_t *)(s->user_registers + count_registers(s));
}

/* Returns where the next array goes. */
static uint8_t *copy(uint8_t *to, const void *from, size_t n)
{
	if (n > 0)
		memcpy(to, from, n);
	return to + n;
}

bool kept_samples_add(struct kept_samples *samples, struct process_context *context,
		      const struct event *event)
{
	const struct sample *s = &event->sample;
	size_t n_bytes = sizeof(struct kept_sample) + arrays_bytes(s);
	struct kept_sample *kept;
	uint8_t *to;

	if (!samples->memory)
		samples->memory = malloc(samples->max_bytes);
	if (!samples->memory || n_bytes > samples->max_bytes - samples->n_bytes)
		return false;
	kept = (struct kept_sample *)(samples->memory + samples->n_bytes);
	*kept = (struct kept_sample){
		.context = process_context_ref(context),
		.event = *event,
		.n_bytes = n_bytes,
	};
	kept->event.sample.n_raw = 0;
	kept->event.sample.raw = NULL;
	to = (uint8_t *)(kept + 1);
	to = copy(to, s->rows, s->n_rows * sizeof(*s->rows));
	to = copy(to, s->callchain, s->n_callchain * sizeof(*s->callchain));
	to = copy(to, s->user_registers, count_registers(s) * sizeof(*s->user_registers));
	copy(to, s->user_stack, s->n_user_stack);
	samples->n_bytes += n_bytes;
	samples->n++;
	return true;
}

int kept_samples_for_each(struct kept_samples *samples,
			  int (*handler)(const struct kept_sample *sample, void *userdata),
			  void *userdata)
{
	size_t from = 0, to = 0, end = samples->n_bytes, n_bytes;
	struct kept_sample *kept;
	int r = 0;

	for (; from < end; from += n_bytes) {
		kept = (struct kept_sample *)(samples->memory + from);
		n_bytes = kept->n_bytes;
		point_to_arrays(kept);
		if (r >= 0)
			r = handler(kept, userdata);
		if (r == 1) {
			process_context_unref(kept->context);
			samples->n--;
			continue;
		}
		memmove(samples->memory + to, kept, n_bytes);
		to += n_bytes;
	}
	samples->n_bytes = to;
	if (to == 0) {
		free(samples->memory);
		samples->memory = NULL;
	}
	return r < 0 ? r : 0;
}

size_t kept_samples_count(const struct kept_samples *samples)
{
	return samples->n;
}
