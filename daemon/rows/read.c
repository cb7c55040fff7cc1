/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/read.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "daemon/rows/window-rows.h"

enum {
	LIST_WINDOWS,
	READ_WINDOW,
	READ_INFO,
	N_STATEMENTS,
};

#define WINDOW_COLUMNS "id, start_us, length_us, samples, lost, mode"

static const char *const sql[N_STATEMENTS] = {
	[LIST_WINDOWS] = "SELECT " WINDOW_COLUMNS " FROM window WHERE start_us >= ? AND "
			 "start_us < ? ORDER BY start_us, id",
	[READ_WINDOW] = "SELECT " WINDOW_COLUMNS " FROM window WHERE id = ?",
	[READ_INFO] = "SELECT m.text, e.text, h.text, o.text, c.text, s.n_cpus, s.depth, "
		      "w.first_ns, w.last_ns "
		      "FROM window w JOIN source s ON s.id = w.source "
		      "LEFT JOIN string m ON m.id = s.mode AND m.id > 0 "
		      "LEFT JOIN string e ON e.id = s.event AND e.id > 0 "
		      "LEFT JOIN string h ON h.id = s.hostname AND h.id > 0 "
		      "LEFT JOIN string o ON o.id = s.os_release AND o.id > 0 "
		      "LEFT JOIN string c ON c.id = s.cpu AND c.id > 0 WHERE w.id = ?",
};

_Static_assert(N_STATEMENTS == N_STORE_READ, "read.h has another number");

int store_read_init(struct store_read *read, struct database *database,
		    struct store_counters *counters)
{
	int r;

	*read = (struct store_read){ .database = database, .counters = counters };
	r = store_lookup_init(&read->lookup, database);
	if (r >= 0)
		r = window_rows_init(&read->rows, database);
	return r < 0 ? r : database_prepare(database, sql, N_STATEMENTS, read->statements);
}

static struct window window_row(struct statement *row)
{
	struct window window = {
		.id = statement_int(row, 0),
		.start_us = (uint64_t)statement_int(row, 1),
		.length_us = (uint64_t)statement_int(row, 2),
		.samples = (uint64_t)statement_int(row, 3),
		.lost = (uint64_t)statement_int(row, 4),
	};
	const char *mode = statement_text(row, 5) ?: "";

	memcpy(window.mode, mode, strnlen(mode, sizeof(window.mode) - 1));
	return window;
}

static bool window_is_within(const struct window *window, uint64_t since_us, uint64_t until_us)
{
	uint64_t end_us;

	if (__builtin_add_overflow(window->start_us, window->length_us, &end_us))
		end_us = UINT64_MAX;
	return window->start_us < until_us && (window->start_us >= since_us || end_us > since_us);
}

int store_read_list(struct store_read *read, uint64_t since_us, uint64_t until_us,
		    uint64_t longest_us, struct window **ret, size_t *ret_n)
{
	struct statement *row = read->statements[LIST_WINDOWS];
	_cleanup_free_ struct window *windows = NULL;
	size_t n = 0, cap = 0;
	int r;

	statement_bind_int(row, 1, since_us > longest_us ? (int64_t)(since_us - longest_us) : 0);
	statement_bind_int(row, 2, (int64_t)MIN(until_us, (uint64_t)INT64_MAX));
	while ((r = statement_step(row)) > 0) {
		struct window window = window_row(row);

		if (!window_is_within(&window, since_us, until_us))
			continue;
		r = ARRAY_RESERVE(&windows, &cap, n + 1);
		if (r < 0) {
			statement_reset(row);
			return r;
		}
		windows[n++] = window;
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(windows);
	*ret_n = n;
	return 0;
}

static int read_info(struct store_read *read, struct window_reading *reading)
{
	struct statement *row = read->statements[READ_INFO];
	struct profile_info info;
	int r;

	statement_bind_int(row, 1, reading->window);
	r = statement_step(row);
	if (r == 0)
		return database_damaged(read->database, "window %" PRId64 " has no source",
					reading->window);
	if (r < 0)
		return r;
	info = (struct profile_info){
		.mode = statement_text(row, 0),
		.event = statement_text(row, 1),
		.hostname = statement_text(row, 2),
		.os_release = statement_text(row, 3),
		.cpu = statement_text(row, 4),
		.n_cpus = (uint32_t)statement_int(row, 5),
		.depth = (uint32_t)statement_int(row, 6),
		.start_ns = (uint64_t)statement_int(row, 7),
		.end_ns = (uint64_t)statement_int(row, 8),
	};
	r = profile_add_info(reading->profile, &info, reading->n_windows == 0);
	return MIN(r, statement_reset(row));
}

/* Reads all but the tables of many rows. 1, or 0 if there is no such window; or -errno. */
static int read_head(struct store_read *read, struct window_reading *reading, int64_t id,
		     struct window *ret)
{
	struct statement *row = read->statements[READ_WINDOW];
	int r;

	statement_bind_int(row, 1, id);
	r = statement_step(row);
	if (r <= 0)
		return r;
	*ret = window_row(row);
	reading->window = id;
	r = statement_reset(row);
	if (r >= 0)
		r = read_info(read, reading);
	if (r >= 0)
		r = store_counters_read(read->counters, id, &reading->profile->counters);
	return r < 0 ? r : 1;
}

int store_read_head(struct store_read *read, struct window *window, struct profile *profile,
		    bool is_first)
{
	struct window_reading reading = { .rows = &read->rows,
					  .database = read->database,
					  .profile = profile,
					  .n_windows = !is_first };

	return read_head(read, &reading, window->id, window);
}

/* 1, or 0 if there is no such window; or -errno. */
static int read_window(struct store_read *read, struct window_reading *reading, int64_t id,
		       struct window *ret)
{
	int r = read_head(read, reading, id, ret);

	if (r > 0)
		r = window_rows_read(reading) ?: 1;
	else if (r == 0)
		return 0;
	reading->n_windows++;
	return r < 0 ? r : 1;
}

int store_read_add(struct store_read *read, uint64_t number, const struct store_batch *batch,
		   struct window_sum *sum, size_t *ret_n)
{
	struct window_reading reading = { .rows = &read->rows,
					  .database = read->database,
					  .batch = batch,
					  .sum = sum,
					  .profile = sum->profile,
					  .n_windows = sum->n_windows };
	size_t i = 0;
	int r = 0;

	window_sum_use(sum, number, &read->lookup);
	for (; r >= 0 && i < batch->n && (i == 0 || reading.n_rows < batch->max_rows); i++) {
		r = read_window(read, &reading, batch->windows[i].id, &batch->windows[i]);
		batch->found[i] = r > 0;
	}
	sum->n_windows = reading.n_windows;
	*ret_n = i;
	return MIN(r, 0);
}

int store_read_windows(struct store_read *read, const struct store_batch *batch, size_t *ret_n,
		       struct profile **ret)
{
	_cleanup_(window_sum_freep) struct window_sum *sum = NULL;
	int r;

	r = window_sum_new(&sum, PROFILE_ALL_TABLES);
	if (r >= 0)
		r = store_read_add(read, 0, batch, sum, ret_n);
	return r < 0 ? r : window_sum_take(sum, ret);
}
