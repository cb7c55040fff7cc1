/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Samples whose stacks wait for unwind tables, in the order of time, in one block of memory. When
 * there is no room for another one, the oldest are taken out and walked with what is there.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/process/process-context.h"
#include "common/record/event.h"
#include "common/util/macro.h"

struct kept_samples;

struct kept_sample {
	struct process_context *context; /* a reference */
	struct event event;              /* its arrays follow it in the memory, up to n_bytes */
	size_t n_bytes;
};

/* @max_bytes: of all samples; allocated while there are any. 0 or -ENOMEM. */
int kept_samples_new(struct kept_samples **ret, size_t max_bytes);
struct kept_samples *kept_samples_free(struct kept_samples *samples);
DEFINE_CLEANUP(struct kept_samples *, kept_samples_free);

/* Copies the sample without raw data. False: there is no room. */
bool kept_samples_add(struct kept_samples *samples, struct process_context *context,
		      const struct event *event);

/*
 * Calls @handler for all of them. It says whether it is done with a sample, which is then dropped:
 * 1 if it is, 0 if not, or a negative errno, which ends the walk and is returned.
 */
int kept_samples_for_each(struct kept_samples *samples,
			  int (*handler)(const struct kept_sample *sample, void *userdata),
			  void *userdata);

size_t kept_samples_count(const struct kept_samples *samples);
