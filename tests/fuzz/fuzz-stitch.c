/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stitching of any rows: a record of calls that the input's bytes push, pop, tear and turn, sampled
 * in between, of a few tasks, with any hardware index. The result keeps within its bounds, and
 * marks stay with the calls that they were set upon.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/stitch/stitch.h"
#include "common/stitch/task.h"

#define N_ROWS  80 /* more than any hardware has */
#define N_MARKS 65536u

struct machine {
	struct stitch *stitch;
	struct branch_record rows[N_ROWS]; /* the oldest first */
	size_t n_rows;
	uint64_t index;
	uint64_t paths[N_MARKS]; /* of each mark the calls it was set upon */
	uint32_t n_marks;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition)
{
	if (!condition)
		abort();
}

static void check_marks(struct machine *m, const struct stitched *s)
{
	uint64_t path = 0;

	if (s->n_callers == 0 || m->n_marks + s->n_callers >= N_MARKS)
		return;
	for (size_t i = 0; i < s->n_callers; i++) {
		struct stitched_call *call = &s->callers[i];

		path = (path + call->from) * 0x9e3779b97f4a7c15ull;
		if (*s->marker != 1 || call->mark.node == 0) {
			call->mark.node = ++m->n_marks;
			m->paths[call->mark.node] = path;
		}
		check(m->paths[call->mark.node] == path);
	}
	*s->marker = 1;
}

static void sample(struct machine *m, uint8_t task, uint8_t how)
{
	struct branch_record rows[N_ROWS];
	struct event e = { .kind = EVENT_SAMPLE, .pid = 1 + task % 2, .tid = 1 + task % 8 };
	struct stitched s;

	for (size_t i = 0; i < m->n_rows; i++)
		rows[i] = m->rows[m->n_rows - 1 - i];
	e.sample.call_stack = e.sample.has_rows = true;
	e.sample.rows = rows;
	e.sample.n_rows = (uint32_t)(how & 0x80 ? m->n_rows : m->n_rows % 33);
	e.sample.has_hw_idx = how & 1;
	e.sample.hw_idx = how & 2 ? m->index : how & 4 ? UINT64_MAX : how * 0x0101010101010101ull;
	check(stitch_add(m->stitch, &e, 0x400000 + 0x20ull * how, &s) == 0);
	check(s.n_callers <= TASK_MAX_ROWS + TASK_MAX_LEVELS);
	check(s.n_stitched <= s.n_callers);
	check_marks(m, &s);
}

static void apply(struct machine *m, enum event_kind kind, uint8_t task, uint8_t what)
{
	struct event e = { .kind = kind, .pid = 1 + task % 2, .tid = 1 + task % 8 };

	if (kind == EVENT_COMM)
		e.comm.exec = what & 1;
	if (kind == EVENT_MAPPING) {
		e.mapping.address = 0x400000 + 0x20ull * what;
		e.mapping.n_bytes = what & 1 ? 0x1000 : -(uint64_t)task;
		e.mapping.executable = what & 2;
	}
	stitch_apply(m->stitch, &e);
}

static void push(struct machine *m, uint8_t from, uint8_t to)
{
	if (m->n_rows == N_ROWS)
		memmove(m->rows, m->rows + 1, --m->n_rows * sizeof(*m->rows));
	m->rows[m->n_rows++] = (struct branch_record){
		.from = 0x400000 + 0x20ull * from,
		.to = to == 255 ? UINT64_MAX : 0x400000 + 0x20ull * to,
		.flags = to & 3,
	};
	m->index++;
}

static void act(struct machine *m, uint8_t op, uint8_t a, uint8_t b)
{
	size_t n = a % (m->n_rows + 1);

	switch (op % 16) {
	case 0:
		m->n_rows -= n;
		m->index -= n;
		return;
	case 1: /* the oldest are lost */
		memmove(m->rows, m->rows + n, (m->n_rows - n) * sizeof(*m->rows));
		m->n_rows -= n;
		return;
	case 2:
		m->n_rows = 0;
		m->index = b;
		return;
	case 3:
		for (; n > 0; n--)
			push(m, b, b);
		return;
	case 4:
		apply(m, (enum event_kind)(b % (EVENT_LOST + 1)), a, b);
		return;
	case 5:
	case 6:
	case 7:
	case 8:
	case 9:
		sample(m, a, b);
		return;
	default:
		push(m, a, b);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct machine m;
	struct stitch_settings settings = { .max_tasks = 4 };

	if (size == 0)
		return 0;
	settings.depth = data[0] % 3 * 32;
	settings.is_wiped = data[0] == 255;
	m.n_rows = m.n_marks = 0;
	m.index = 0;
	check(stitch_new(&m.stitch, &settings) == 0);
	for (size_t i = 1; i + 3 <= size; i += 3)
		act(&m, data[i], data[i + 1], data[i + 2]);
	stitch_free(m.stitch);
	return 0;
}
