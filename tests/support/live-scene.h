/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stacks of a made-up program: its file is mapped at CODE. A function at offset LEAF is called from
 * MIDDLE, that from OUTER. Its table comes when the test gives it.
 */
#pragma once

#include <linux/perf_event.h>
#include <string.h>

#include "bpf/sample.h"
#include "common/record/user-registers.h"
#include "common/util/macro.h"
#include "daemon/unwind/live-unwinder.h"

#define CODE    0x400000UL
#define LIBRARY 0x7f0000000000UL
#define LEAF    0x1000U
#define MIDDLE  0x2000U
#define OUTER   0x3000U
#define LARGE   0x4000U
#define STACK   0x7ffc00001000UL
#define KERNEL  0xffffffff81000000UL
#define PID     5

#if defined(__aarch64__)
#define SP    UNWIND_A64_SP
#define AT_FP 29
#define AT_SP 31
#define AT_IP 32
#else
#define SP    UNWIND_X86_SP
#define AT_FP 6
#define AT_SP 7
#define AT_IP 8
#endif

#define SP_PLUS(n)                                                                                 \
	.cfa = UNWIND_CFA_REGISTER, .cfa_register = SP, .cfa_offset = (n), .ra = UNWIND_SAVED_CFA, \
	.ra_offset = -8

#define MAX_GIVEN 8
#define MAX_CHAIN (2 * (BPF_SAMPLE_MAX_FRAMES + 1))

/* What the handler got. */
struct live_given {
	int32_t tid;
	uint32_t n;
	uint64_t chain[MAX_CHAIN];
	enum sample_unwound unwound;
	uint32_t n_unwound;
	uint64_t row; /* where its newest branch record begins */
};

/* A sample, and its arrays. */
struct live_taken {
	uint64_t chain[2 * MAX_CHAIN];
	uint64_t registers[BPF_SAMPLE_N_REGISTERS];
	uint64_t stack[6];
	struct event event;
};

struct live_scene {
	struct live_taken taken;
	struct table_exchange *exchange;
	struct live_unwinder *unwinder;
	struct processes *processes;
	struct live_given given[MAX_GIVEN];
	size_t n_given;
	int result; /* of the handler */
};

static inline int live_scene_on_sample(struct process_context *context, const struct event *event,
				       void *userdata)
{
	struct live_scene *scene = userdata;
	const struct sample *s = &event->sample;
	struct live_given *given = &scene->given[scene->n_given % MAX_GIVEN];

	assert_int_equal(context->pid, PID);
	assert_true(s->n_callchain <= MAX_CHAIN);
	scene->n_given++;
	given->tid = event->tid;
	given->n = s->n_callchain;
	given->unwound = s->unwound;
	given->n_unwound = s->n_unwound;
	given->row = s->n_rows > 0 ? s->rows[0].from : 0;
	memcpy(given->chain, s->callchain, s->n_callchain * sizeof(*s->callchain));
	return scene->result;
}

static inline void live_scene_map(struct live_scene *scene, uint64_t address, uint64_t inode)
{
	const struct event e = { .kind = EVENT_MAPPING,
				 .pid = PID,
				 .tid = PID,
				 .mapping = { .address = address,
					      .n_bytes = 0x10000,
					      .path = inode == 7 ? "/bin/x" : "/lib/y",
					      .major = 8,
					      .inode = inode,
					      .executable = true } };

	assert_int_equal(processes_apply(scene->processes, &e), 0);
}

static inline void live_scene_init(struct live_scene *scene)
{
	*scene = (struct live_scene){};
	assert_int_equal(table_exchange_new(&scene->exchange), 0);
	assert_int_equal(processes_new(&scene->processes), 0);
	assert_int_equal(live_unwinder_new(&scene->unwinder,
					   &(struct live_unwinder_settings){
						   .exchange = scene->exchange,
						   .max_stack = BPF_SAMPLE_MAX_STACK,
						   .handler = live_scene_on_sample,
						   .userdata = scene,
					   }),
			 0);
	live_scene_map(scene, CODE, 7);
	live_scene_map(scene, LIBRARY, 8);
}

static inline void live_scene_done(struct live_scene *scene)
{
	live_unwinder_free(scene->unwinder);
	processes_free(scene->processes);
	table_exchange_free(scene->exchange);
}

/* In user code, in LEAF, which MIDDLE of the file at @caller has called. */
static inline void live_scene_take(struct live_scene *scene, int32_t tid, uint64_t caller)
{
	struct live_taken *taken = &scene->taken;

	*taken = (struct live_taken){
		.chain = { PERF_CONTEXT_USER, CODE + LEAF },
		.stack = { 0, caller + MIDDLE + 5, 0, 0, 0, CODE + OUTER + 9 },
		.event = { .kind = EVENT_SAMPLE, .pid = PID, .tid = tid },
	};
	taken->registers[AT_FP] = 1; /* no frame pointer */
	taken->registers[AT_SP] = STACK;
	taken->registers[AT_IP] = CODE + LEAF + 3;
	taken->event.sample = (struct sample){
		.ip = CODE + LEAF + 3,
		.callchain = taken->chain,
		.user_registers = taken->registers,
		.user_registers_mask = BPF_SAMPLE_REGISTERS_MASK,
		.user_stack = (const uint8_t *)taken->stack,
		.n_user_stack = sizeof(taken->stack),
	};
}

/* It entered the kernel from there. */
static inline void live_scene_take_in_kernel(struct live_scene *scene, int32_t tid)
{
	struct live_taken *taken = &scene->taken;

	live_scene_take(scene, tid, CODE);
	taken->event.sample.ip = KERNEL;
	taken->event.sample.n_callchain = 3;
	taken->chain[0] = PERF_CONTEXT_KERNEL;
	taken->chain[1] = KERNEL;
	taken->chain[2] = KERNEL + 0x100;
}

static inline int live_scene_add(struct live_scene *scene)
{
	struct process_context *context = processes_find(scene->processes, PID);

	return live_unwinder_add(scene->unwinder, scene->processes, context, &scene->taken.event);
}

static inline void live_scene_update(struct live_scene *scene)
{
	assert_int_equal(live_unwinder_update(scene->unwinder, scene->processes), 0);
}

/* LEAF has 16 bytes of stack, MIDDLE 32, LARGE more than is copied, and OUTER has no caller. */
static inline struct unwind_table live_scene_make_table(void)
{
	static const uint32_t starts[] = { LEAF, MIDDLE, OUTER, LARGE, LARGE + 0x1000 };
	static const uint16_t rule_ids[] = { 0, 1, 2, 3, 4 };
	static const struct unwind_rule rules[] = {
		{ SP_PLUS(16) },
		{ SP_PLUS(32) },
		{ .cfa = UNWIND_CFA_END },
		{ SP_PLUS(BPF_SAMPLE_MAX_STACK) },
		{ .cfa = UNWIND_CFA_NONE },
	};
	const struct unwind_rows rows = { .machine = user_registers_own_machine(),
					  .starts = starts,
					  .rule_ids = rule_ids,
					  .n = ARRAY_SIZE(starts),
					  .rules = rules,
					  .n_rules = ARRAY_SIZE(rules) };
	struct unwind_table table;

	assert_int_equal(unwind_table_pack(&table, &rows), 0);
	assert_true(unwind_table_is_valid(&table));
	return table;
}

/* Answers the next request, which is of that inode. */
static inline void live_scene_answer(struct live_scene *scene, uint64_t inode, bool with_table)
{
	struct wanted_table wanted;
	struct built_table built = {};

	assert_true(table_exchange_take_wanted(scene->exchange, &wanted));
	assert_int_equal(wanted.inode, inode);
	built.id = wanted.id;
	if (with_table)
		built.table = live_scene_make_table();
	table_exchange_put_built(scene->exchange, &built);
}

static inline void assert_counts(const struct live_scene *scene, uint64_t complete, uint64_t n_kept)
{
	struct live_unwinder_counts counts;

	live_unwinder_get_counts(scene->unwinder, &counts);
	assert_int_equal(counts.ended[UNWIND_COMPLETE], complete);
	assert_int_equal(counts.n_kept, n_kept);
}

#define assert_given(scene, i, thread, ...)                                 \
	do {                                                                \
		const uint64_t _expected[] = { __VA_ARGS__ };               \
		const struct live_given *_given = &(scene)->given[i];       \
                                                                            \
		assert_true((scene)->n_given > (i));                        \
		assert_int_equal(_given->tid, thread);                      \
		assert_int_equal(_given->n, ARRAY_SIZE(_expected));         \
		for (size_t _i = 0; _i < ARRAY_SIZE(_expected); _i++)       \
			assert_int_equal(_given->chain[_i], _expected[_i]); \
	} while (0)

#define USER_STACK PERF_CONTEXT_USER, CODE + LEAF + 3, CODE + MIDDLE + 5, CODE + OUTER + 9
