/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A recording of any bytes, read to its end and counted, once without and once with force: no fault
 * but in one line, and the sums of what is counted and what is skipped always hold.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/builder/builder.h"
#include "common/record/recording.h"
#include "tests/naive/count.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(x)               \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

struct counted {
	int error;
	uint64_t n_samples, n_events;
	bool damaged;
};

static void check_fault(const struct fault *fault)
{
	REQUIRE(fault->text[0] && !strchr(fault->text, '\n'));
}

static void check_stacks(const struct profile *p)
{
	uint64_t samples = 0, weight = 0;

	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *s = &p->stacks[i];

		REQUIRE(s->parent == PROFILE_NONE || s->parent < i);
		REQUIRE(s->process < p->n_processes);
		REQUIRE(s->frame.object == PROFILE_NONE || s->frame.object < p->n_objects);
		samples += s->samples;
		weight += s->weight;
	}
	REQUIRE(samples == p->counters.samples);
	REQUIRE(weight == p->counters.weight);
	samples = 0;
	for (size_t i = 0; i < p->n_processes; i++)
		samples += p->processes[i].samples;
	REQUIRE(samples == p->counters.samples);
}

static void check_rows(const struct profile *p)
{
	uint64_t taken = 0, cycles = 0, runs = 0;

	for (size_t i = 0; i < p->n_branches; i++) {
		REQUIRE(p->branches[i].process < p->n_processes);
		REQUIRE(p->branches[i].mispredicted <= p->branches[i].taken);
		REQUIRE(p->branches[i].cycles_rows <= p->branches[i].taken);
		taken += p->branches[i].taken;
		cycles += p->branches[i].cycles;
	}
	for (size_t i = 0; i < p->n_blocks; i++) {
		const struct profile_block *b = &p->blocks[i];

		REQUIRE(b->object < p->n_objects && b->process < p->n_processes);
		REQUIRE(b->start <= b->end && b->end - b->start <= 1u << 20);
		runs += b->runs;
	}
	REQUIRE(taken == p->counters.rows_counted);
	REQUIRE(cycles == p->counters.cycles);
	REQUIRE(runs == p->counters.runs_counted);
}

static void close_and_check(struct builder *builder, const struct processes *processes,
			    uint64_t n_samples)
{
	_cleanup_(profile_freep) struct profile *p = NULL;

	REQUIRE(builder_close(builder, processes, &p) == 0);
	REQUIRE(naive_counters_balance(&p->counters, n_samples));
	REQUIRE(profile_finalize(p) == 0);
	check_stacks(p);
	check_rows(p);
}

/* The window is closed now and then, as the daemon does. */
static int count_events(struct recording *r, struct processes *processes, struct builder *builder,
			struct counted *c)
{
	uint64_t n_closed = 0;
	struct fault fault;
	struct event e;
	int k;

	while ((k = recording_next(r, &e, &fault)) > 0) {
		if (builder_add(builder, processes, &e) < 0 || processes_apply(processes, &e) < 0)
			return -1;
		c->n_samples += e.kind == EVENT_SAMPLE;
		if (c->n_events++ % 64 == 63) {
			close_and_check(builder, processes, c->n_samples - n_closed);
			n_closed = c->n_samples;
		}
	}
	if (k < 0)
		check_fault(&fault);
	c->error = k;
	close_and_check(builder, processes, c->n_samples - n_closed);
	return 0;
}

static void read_all(const char *path, bool force, struct counted *c)
{
	const struct builder_settings settings = { .duplicate_depth = 32,
						   .max_rows = 50,
						   .max_frames = 20 };
	_cleanup_(recording_freep) struct recording *r = NULL;
	_cleanup_(processes_freep) struct processes *processes = NULL;
	_cleanup_(builder_freep) struct builder *builder = NULL;
	struct fault fault = { 0 };

	*c = (struct counted){ 0 };
	c->error = recording_open(&r, path, force, &fault);
	if (c->error < 0) {
		check_fault(&fault);
		return;
	}
	if (processes_new(&processes) < 0 || builder_new(&builder, &settings) < 0)
		return;
	if (count_events(r, processes, builder, c) < 0)
		return;
	for (uint32_t i = 0; i < recording_n_sources(r); i++)
		REQUIRE(recording_source_name(r, i) && recording_attr(r, i));
	c->damaged = recording_forced(r);
	REQUIRE(!c->damaged || force);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct counted plain, forced;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd >= 0 && write(fd, data, size) == (ssize_t)size) {
		read_all(path, false, &plain);
		read_all(path, true, &forced);
		REQUIRE(plain.error < 0 || (forced.error == 0 && !forced.damaged));
		REQUIRE(plain.error < 0 || forced.n_events == plain.n_events);
		REQUIRE(forced.error < 0 || forced.n_events >= plain.n_events);
	}
	close(fd);
	return 0;
}
