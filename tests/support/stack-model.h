/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A small model of the hardware in call-stack mode: a task that calls and returns, its true stack,
 * and registers that a call fills and a return empties.
 */
#pragma once

#include "common/stitch/stitch.h"

#define DEPTH     8
#define MAX_CALLS 200
#define PID       100

struct model {
	struct stitch *stitch;
	struct branch_record registers[DEPTH];
	uint64_t calls[MAX_CALLS]; /* addresses of the calls it is in, the outermost first */
	uint64_t functions[MAX_CALLS + 1];
	size_t n_calls;
	unsigned int newest;
	uint64_t n_rows; /* written: their cycles, so that each is another */
	bool has_index;
};

static inline uint64_t function_at(unsigned int i)
{
	return 0x400000 + 0x100ull * i;
}

/* 0 or -ENOMEM. */
static inline int model_init(struct model *m, const struct stitch_settings *settings)
{
	*m = (struct model){ .has_index = true, .newest = 1 };
	m->functions[0] = function_at(0);
	return stitch_new(&m->stitch, settings);
}

static inline void call(struct model *m, unsigned int function)
{
	struct branch_record *row;

	m->newest = (m->newest + 1) % DEPTH;
	row = &m->registers[m->newest];
	row->from = m->functions[m->n_calls] + 0x10 + 2 * (function % 8);
	row->to = function_at(function);
	row->flags = (++m->n_rows & 0xffff) << 4;
	m->calls[m->n_calls++] = row->from;
	m->functions[m->n_calls] = row->to;
}

static inline void pop(struct model *m)
{
	m->registers[m->newest] = (struct branch_record){ 0 };
	m->newest = (m->newest + DEPTH - 1) % DEPTH;
}

static inline void leave(struct model *m)
{
	pop(m);
	m->n_calls--;
}

/* 0 or -ENOMEM. */
static inline int sample_of(struct model *m, int32_t tid, struct stitched *ret)
{
	struct branch_record rows[DEPTH];
	struct event e = { .kind = EVENT_SAMPLE, .pid = PID, .tid = tid };
	uint32_t n = 0;

	while (n < DEPTH && m->registers[(m->newest + DEPTH - n) % DEPTH].from != 0) {
		rows[n] = m->registers[(m->newest + DEPTH - n) % DEPTH];
		n++;
	}
	e.sample.call_stack = e.sample.has_rows = true;
	e.sample.rows = rows;
	e.sample.n_rows = n;
	e.sample.has_hw_idx = m->has_index;
	e.sample.hw_idx = m->newest;
	return stitch_add(m->stitch, &e, m->functions[m->n_calls] + 4, ret);
}

/* The leaf's caller is the first. */
static inline uint64_t stitched_caller(const struct stitched *s, size_t i)
{
	return s->callers[s->n_callers - 1 - i].from;
}

/* Functions, from @first on: no others are code any more, if it is the first such after an exec. */
static inline void map_code(struct model *m, unsigned int first, unsigned int n)
{
	struct event e = { .kind = EVENT_MAPPING, .pid = PID, .tid = PID };

	e.mapping.address = function_at(first);
	e.mapping.n_bytes = function_at(first + n) - function_at(first);
	e.mapping.executable = true;
	stitch_apply(m->stitch, &e);
}

static inline void apply(struct model *m, enum event_kind kind, bool exec)
{
	struct event e = { .kind = kind, .pid = PID, .tid = PID };

	if (kind == EVENT_COMM)
		e.comm.exec = exec;
	stitch_apply(m->stitch, &e);
}
