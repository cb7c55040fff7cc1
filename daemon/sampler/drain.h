/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Takes the records out of the rings of all CPUs, and hands them on in order of time. They are
 * copied, so that the rings have room again at once; the copies wait until all earlier records have
 * come.
 *
 * Rings that have filled up are up to two megabytes each. So that their copies need not all be held
 * at once, the rings are copied in slices: what is earlier than the rest of each ring goes out
 * before the next slice is copied, and a ring that is ahead of the others waits.
 */
#pragma once

#include <stdint.h>

#include <linux/perf_event.h>

#include "common/record/decoder.h"
#include "common/util/macro.h"
#include "daemon/sampler/cpus.h"

/* Allowed from when a record is stamped until it is in its ring: a guest's CPU may stand still. */
#define DRAIN_PATIENCE_NS 250000000ull

/* About this much waits while rings have more, in two slices of each, or three while it is little.
 */
#define DRAIN_COPIES_BYTES (2u << 20)

struct drain;

/* @record is valid during the call. */
typedef int (*drain_handler)(const struct perf_event_header *record, void *userdata);

/* For at most @n_cpus CPUs. Borrows @decoder, which knows the records' times. 0 or -ENOMEM. */
int drain_new(struct drain **ret, uint32_t n_cpus, struct decoder *decoder);
struct drain *drain_free(struct drain *drain);
DEFINE_CLEANUP(struct drain *, drain_free);

/* Copies a record out of a ring: the handler of all rings, with the drain as its userdata. */
int drain_add(const struct perf_event_header *record, void *drain);

/*
 * Copies what is in the rings while nothing may be handed on. What exceeds the limits of
 * common/record/order stays in the rings, which lose records once they are full. 0 or -errno.
 */
int drain_copy(struct drain *drain, struct cpus *cpus);

/*
 * Copies what is in the rings, and hands on at least what was written before the previous call, or
 * DRAIN_PATIENCE_NS before this one; where rings hold more than a slice, also what is earlier than
 * what is left in them. Ends at the first negative answer of @handler, and returns it, or another
 * -errno.
 */
int drain_run(struct drain *drain, struct cpus *cpus, drain_handler handler, void *userdata);

/* Likewise, once nothing is written any more: hands on all. */
int drain_finish(struct drain *drain, struct cpus *cpus, drain_handler handler, void *userdata);

/* The number of records that came after later ones had been handed on. */
uint64_t drain_n_late(const struct drain *drain);
