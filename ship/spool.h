/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Batches on disk, oldest first, and up to which window they reach. One thread puts, another one
 * takes. A batch is there from spool_put() to spool_remove(), also when the program or the machine
 * fails. If there is no more room the oldest batch goes, and is counted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/fault.h"
#include "common/util/macro.h"
#include "ship/batch.h"

#define SPOOL_NAME_MAX 192

struct spool;

/* The last window that a batch was made of; id 0: none. */
struct spool_mark {
	int64_t id;
	uint64_t start_us, length_us;
};

struct spool_totals {
	size_t n_batches;
	uint64_t bytes;
	uint64_t dropped_windows; /* ever */
	uint64_t oldest_us;       /* the start of the oldest window that waits; 0: none */
};

/* -errno and @fault. */
int spool_open(struct spool **ret, const char *directory, uint64_t max_bytes, struct fault *fault);
struct spool *spool_free(struct spool *spool);
DEFINE_CLEANUP(struct spool *, spool_free);

struct spool_mark spool_mark(struct spool *spool);
struct spool_totals spool_totals(struct spool *spool);

/* Windows that could not be asked for. */
void spool_count_dropped(struct spool *spool, uint64_t n_windows);

/*
 * Keeps the finished @batch, and @mark. If it cannot be written its windows are dropped, which is
 * counted: then -errno and @fault.
 */
int spool_put(struct spool *spool, const struct batch *batch, const struct spool_mark *mark,
	      struct fault *fault);

struct spool_batch {
	struct batch *batch;
	char name[SPOOL_NAME_MAX];
	bool is_old; /* it was there before: it may have been sent */
};

/* The oldest batch; waits for one at most until @end_us of CLOCK_MONOTONIC, or until
 * spool_stop(). 1; 0: none; or -errno and @fault. */
int spool_take(struct spool *spool, struct spool_batch *ret, uint64_t end_us, struct fault *fault);
/* Whether it is still there: it may be dropped meanwhile. */
bool spool_has(struct spool *spool, const char *name);
/* It was sent. */
void spool_remove(struct spool *spool, const char *name);

/* Waits until @end_us or spool_stop(); false after the latter. */
bool spool_sleep(struct spool *spool, uint64_t end_us);
void spool_stop(struct spool *spool);
