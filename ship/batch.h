/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A batch: the rows of some windows of one day, as the text that ClickHouse reads (TabSeparated), a
 * part for each table. What was counted in a window makes the same rows each time. A whole batch is
 * compressed (gzip).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "client/rpc/windows.h"
#include "common/profile/profile.h"
#include "common/util/macro.h"
#include "ship/format.h"
#include "ship/names.h"

enum batch_table {
	BATCH_NAMES,
	BATCH_FUNCTIONS,
	BATCH_STACKS,
	BATCH_BRANCHES,
	BATCH_BLOCKS,
	BATCH_STREAMS,
	BATCH_WINDOWS, /* last of these: what it has was sent whole */
	BATCH_PPROF,   /* no table: instead of all others, see format.h */
	BATCH_OTLP,    /* the same */
	N_BATCH_TABLES,
};

/* As in schema.sql, without "_rows". */
const char *batch_table_name(enum batch_table table);

struct batch {
	char *texts[N_BATCH_TABLES];
	size_t sizes[N_BATCH_TABLES];
	FILE *files[N_BATCH_TABLES]; /* memory streams, until batch_finish() */
	uint64_t n_windows;          /* those of sums, too; its owner counts them */
	uint64_t first_us, last_us;  /* the starts of the first and the last one */
	uint64_t end_us;             /* of the last one */
	int64_t first_id, last_id;   /* of these windows, and of none before */
};

/* Whose windows they are. */
struct batch_sender {
	const char *host;
	struct names_seen *seen; /* the names in its batches */
	enum format format;
};

int batch_new(struct batch **ret);
struct batch *batch_free(struct batch *batch);
DEFINE_CLEANUP(struct batch *, batch_free);

/* The day in UTC, since 1970. */
uint64_t batch_day(uint64_t us);

/*
 * Adds the counts of a window, or of several as one: @window has the id of the first, @last_id is
 * that of the last. It is of the day of those before it. @profile is folded, see fold.h. -ENOMEM.
 */
int batch_add(struct batch *batch, const struct batch_sender *sender,
	      const struct window_info *window, int64_t last_id, struct profile *profile);

/* The bytes so far. */
size_t batch_bytes(const struct batch *batch);

/* Completes and compresses the texts. -ENOMEM. */
int batch_finish(struct batch *batch);
