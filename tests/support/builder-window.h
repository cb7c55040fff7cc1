/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of the builder: a window of one process, samples in, its profile out. */
#pragma once

#include <cmocka.h>

#include "common/builder/builder.h"
#include "tests/naive/count.h"

#define PID  5
#define CODE 0x400000ull /* /bin/x, its file offset 0 */
#define LIB  0x700000000000ull
#define ROWS 200

#define FLAGS(cycles, flags) ((uint64_t)(cycles) << 4 | (flags)) /* of a row */

/* A window, with the processes it is about. */
struct window {
	struct processes *processes;
	struct builder *builder;
	struct profile *profile; /* once it is closed */
	uint64_t n_samples;
};

static inline void map(struct window *w, int32_t pid, uint64_t address, uint64_t n_bytes,
		       uint64_t offset, const char *path)
{
	struct event e = { .kind = EVENT_MAPPING,
			   .pid = pid,
			   .mapping = { .address = address,
					.n_bytes = n_bytes,
					.file_offset = offset,
					.path = path,
					.executable = true } };

	assert_int_equal(processes_apply(w->processes, &e), 0);
}

static inline void window_init(struct window *w, const struct builder_settings *settings)
{
	*w = (struct window){ 0 };
	assert_int_equal(processes_new(&w->processes), 0);
	assert_int_equal(builder_new(&w->builder, settings), 0);
	map(w, PID, CODE, 0x800000, 0, "/bin/x");
	map(w, PID, LIB, 0x10000, 0, "/lib/l.so");
}

static inline void window_open(struct window *w)
{
	struct builder_settings settings = { 0 };

	window_init(w, &settings);
}

static inline void window_done(struct window *w)
{
	profile_free(w->profile);
	builder_free(w->builder);
	processes_free(w->processes);
}

static inline void add(struct window *w, const struct event *e)
{
	assert_int_equal(builder_add(w->builder, w->processes, e), 0);
	w->n_samples += e->kind == EVENT_SAMPLE;
}

/* Adds a sample of the process, of weight 10. */
static inline void add_sample(struct window *w, struct sample sample)
{
	struct event e = { .kind = EVENT_SAMPLE, .pid = PID, .tid = PID, .sample = sample };

	e.sample.period = 10;
	e.sample.mode = CPU_MODE_USER;
	add(w, &e);
}

static inline void add_rows(struct window *w, const struct branch_record *rows, uint32_t n)
{
	add_sample(w, (struct sample){ .ip = CODE, .has_rows = true, .rows = rows, .n_rows = n });
}

static inline void add_chain(struct window *w, const uint64_t *chain, uint32_t n)
{
	add_sample(w, (struct sample){ .ip = CODE, .callchain = chain, .n_callchain = n });
}

/* Its profile; the counters must hold together whatever was counted. */
static inline const struct profile *close_window(struct window *w)
{
	profile_free(w->profile);
	w->profile = NULL;
	assert_int_equal(builder_close(w->builder, w->processes, &w->profile), 0);
	assert_true(naive_counters_balance(&w->profile->counters, w->n_samples));
	assert_int_equal(profile_finalize(w->profile), 0);
	w->n_samples = 0;
	return w->profile;
}
