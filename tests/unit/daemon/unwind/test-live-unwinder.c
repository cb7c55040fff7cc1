/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stacks of a made-up program: its file is mapped at CODE. A function at offset LEAF is called from
 * MIDDLE, that from OUTER. Its table comes when the test gives it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
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
struct given {
	int32_t tid;
	uint32_t n;
	uint64_t chain[MAX_CHAIN];
	enum sample_unwound unwound;
	uint32_t n_unwound;
	uint64_t row; /* where its newest branch record begins */
};

/* A sample, and its arrays. */
struct taken {
	uint64_t chain[2 * MAX_CHAIN];
	uint64_t registers[BPF_SAMPLE_N_REGISTERS];
	uint64_t stack[6];
	struct event event;
};

struct scene {
	struct taken taken;
	struct table_exchange *exchange;
	struct live_unwinder *unwinder;
	struct processes *processes;
	struct given given[MAX_GIVEN];
	size_t n_given;
	int result; /* of the handler */
};

static int on_sample(struct process_context *context, const struct event *event, void *userdata)
{
	struct scene *scene = userdata;
	const struct sample *s = &event->sample;
	struct given *given = &scene->given[scene->n_given % MAX_GIVEN];

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

static void map(struct scene *scene, uint64_t address, uint64_t inode)
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

static void scene_init(struct scene *scene)
{
	*scene = (struct scene){};
	assert_int_equal(table_exchange_new(&scene->exchange), 0);
	assert_int_equal(processes_new(&scene->processes), 0);
	assert_int_equal(live_unwinder_new(&scene->unwinder,
					   &(struct live_unwinder_settings){
						   .exchange = scene->exchange,
						   .max_stack = BPF_SAMPLE_MAX_STACK,
						   .handler = on_sample,
						   .userdata = scene,
					   }),
			 0);
	map(scene, CODE, 7);
	map(scene, LIBRARY, 8);
}

static void scene_done(struct scene *scene)
{
	live_unwinder_free(scene->unwinder);
	processes_free(scene->processes);
	table_exchange_free(scene->exchange);
}

/* In user code, in LEAF, which MIDDLE of the file at @caller has called. */
static void take(struct scene *scene, int32_t tid, uint64_t caller)
{
	struct taken *taken = &scene->taken;

	*taken = (struct taken){
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
static void take_in_kernel(struct scene *scene, int32_t tid)
{
	struct taken *taken = &scene->taken;

	take(scene, tid, CODE);
	taken->event.sample.ip = KERNEL;
	taken->event.sample.n_callchain = 3;
	taken->chain[0] = PERF_CONTEXT_KERNEL;
	taken->chain[1] = KERNEL;
	taken->chain[2] = KERNEL + 0x100;
}

static int add(struct scene *scene)
{
	struct process_context *context = processes_find(scene->processes, PID);

	return live_unwinder_add(scene->unwinder, scene->processes, context, &scene->taken.event);
}

static void update(struct scene *scene)
{
	assert_int_equal(live_unwinder_update(scene->unwinder, scene->processes), 0);
}

/* LEAF has 16 bytes of stack, MIDDLE 32, LARGE more than is copied, and OUTER has no caller. */
static struct unwind_table make_table(void)
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
	const struct unwind_table table = { .machine = user_registers_own_machine(),
					    .starts = starts,
					    .rule_ids = rule_ids,
					    .n_rows = ARRAY_SIZE(starts),
					    .rules = rules,
					    .n_rules = ARRAY_SIZE(rules) };
	struct unwind_table copy;

	assert_true(unwind_table_is_valid(&table));
	assert_int_equal(unwind_table_copy(&copy, &table), 0);
	return copy;
}

/* Answers the next request, which is of that inode. */
static void answer(struct scene *scene, uint64_t inode, bool with_table)
{
	struct wanted_table wanted;
	struct built_table built = {};

	assert_true(table_exchange_take_wanted(scene->exchange, &wanted));
	assert_int_equal(wanted.inode, inode);
	built.id = wanted.id;
	if (with_table)
		built.table = make_table();
	table_exchange_put_built(scene->exchange, &built);
}

static void assert_counts(const struct scene *scene, uint64_t complete, uint64_t n_kept)
{
	struct live_unwinder_counts counts;

	live_unwinder_get_counts(scene->unwinder, &counts);
	assert_int_equal(counts.ended[UNWIND_COMPLETE], complete);
	assert_int_equal(counts.n_kept, n_kept);
}

#define assert_given(scene, i, thread, ...)                                 \
	do {                                                                \
		const uint64_t _expected[] = { __VA_ARGS__ };               \
		const struct given *_given = &(scene)->given[i];            \
                                                                            \
		assert_true((scene)->n_given > (i));                        \
		assert_int_equal(_given->tid, thread);                      \
		assert_int_equal(_given->n, ARRAY_SIZE(_expected));         \
		for (size_t _i = 0; _i < ARRAY_SIZE(_expected); _i++)       \
			assert_int_equal(_given->chain[_i], _expected[_i]); \
	} while (0)

#define USER_STACK PERF_CONTEXT_USER, CODE + LEAF + 3, CODE + MIDDLE + 5, CODE + OUTER + 9

static void a_sample_waits_for_its_table(void **state)
{
	struct live_unwinder_counts counts;
	struct scene scene;

	scene_init(&scene);
	take(&scene, 1, CODE);
	assert_int_equal(add(&scene), 0);
	memset(&scene.taken, 0xee, sizeof(scene.taken)); /* the ring is used again */
	take_in_kernel(&scene, 2);
	scene.taken.registers[AT_FP] =
		0; /* this is the stack's end only where no table says more */
	assert_int_equal(add(&scene), 0);
	assert_int_equal(scene.n_given, 0);
	update(&scene);
	assert_int_equal(scene.n_given, 0);

	answer(&scene, 7, true);
	update(&scene);
	assert_int_equal(scene.n_given, 2);
	assert_given(&scene, 0, 1, USER_STACK);
	assert_given(&scene, 1, 2, PERF_CONTEXT_KERNEL, KERNEL, KERNEL + 0x100, USER_STACK);
	assert_counts(&scene, 2, 2);
	live_unwinder_get_counts(scene.unwinder, &counts);
	assert_int_equal(counts.n_tables, 1);
	assert_true(counts.table_bytes > 0);

	/* the next one does not */
	take(&scene, 3, CODE);
	assert_int_equal(add(&scene), 0);
	assert_given(&scene, 2, 3, USER_STACK);
	assert_counts(&scene, 3, 2);
	scene_done(&scene);
}

/* Then for the next one that it leads through. */
static void a_sample_waits_for_all_its_tables(void **state)
{
	struct scene scene;

	scene_init(&scene);
	take(&scene, 1, LIBRARY);
	assert_int_equal(add(&scene), 0);
	answer(&scene, 7, true);
	update(&scene);
	assert_int_equal(scene.n_given, 0);
	answer(&scene, 8, true);
	update(&scene);
	assert_int_equal(scene.n_given, 1);
	assert_given(&scene, 0, 1, PERF_CONTEXT_USER, CODE + LEAF + 3, LIBRARY + MIDDLE + 5,
		     CODE + OUTER + 9);
	assert_counts(&scene, 1, 1);
	scene_done(&scene);
}

/* What has no table is walked by the frame pointer, which is none here. */
static void a_file_without_a_table_cuts_the_stack(void **state)
{
	struct live_unwinder_counts counts;
	struct scene scene;

	scene_init(&scene);
	take(&scene, 1, CODE);
	assert_int_equal(add(&scene), 0);
	answer(&scene, 7, false);
	update(&scene);
	assert_given(&scene, 0, 1, PERF_CONTEXT_USER, CODE + LEAF + 3);
	assert_int_equal(scene.n_given, 1);
	live_unwinder_get_counts(scene.unwinder, &counts);
	assert_int_equal(counts.ended[UNWIND_NO_TABLE], 1);
	scene_done(&scene);
}

static void code_without_a_table_is_walked_by_the_frame_pointer(void **state)
{
	struct live_unwinder_counts counts;
	struct scene scene;

	scene_init(&scene);
	take(&scene, 1, CODE);
	scene.taken.registers[AT_FP] = STACK;
	scene.taken.stack[0] = STACK + 32;
	scene.taken.stack[4] = 0; /* the outermost frame pointer */
	assert_int_equal(add(&scene), 0);
	answer(&scene, 7, false);
	update(&scene);
	assert_given(&scene, 0, 1, USER_STACK);
	live_unwinder_get_counts(scene.unwinder, &counts);
	assert_int_equal(counts.ended[UNWIND_COMPLETE], 1);
	assert_int_equal(counts.n_by_fp, 2);
	scene_done(&scene);
}

static void flush_gives_all_out(void **state)
{
	struct scene scene;

	scene_init(&scene);
	take(&scene, 1, LIBRARY);
	assert_int_equal(add(&scene), 0);
	take_in_kernel(&scene, 2);
	assert_int_equal(add(&scene), 0);
	answer(&scene, 7, true);
	update(&scene);
	assert_int_equal(scene.n_given, 1); /* the second needs no other table */
	assert_int_equal(live_unwinder_flush(scene.unwinder, scene.processes), 0);
	assert_int_equal(scene.n_given, 2);
	assert_given(&scene, 1, 1, PERF_CONTEXT_USER, CODE + LEAF + 3, LIBRARY + MIDDLE + 5);
	assert_int_equal(live_unwinder_flush(scene.unwinder, scene.processes), 0);
	answer(&scene, 8, true);
	update(&scene);
	assert_int_equal(scene.n_given, 2); /* each once */
	scene_done(&scene);
}

static void the_oldest_that_do_not_fit_are_given_out(void **state)
{
	static uint8_t stack[BPF_SAMPLE_MAX_STACK];
	struct scene scene;
	size_t n = 0;

	scene_init(&scene);
	take(&scene, 1, LIBRARY);
	memcpy(stack, scene.taken.stack, sizeof(scene.taken.stack));
	scene.taken.event.sample.user_stack = stack;
	scene.taken.event.sample.n_user_stack = sizeof(stack);
	for (; scene.n_given == 0 && n < 1000; n++) {
		scene.taken.event.tid = (int32_t)n;
		assert_int_equal(add(&scene), 0);
	}
	assert_in_range(n, 128, 256); /* of 8 MiB, 32 KiB each */
	assert_in_range(scene.n_given, n / 4 - 2, n / 4 + 2);
	n = scene.n_given;
	assert_given(&scene, (n - 1) % MAX_GIVEN, (int)n - 1, PERF_CONTEXT_USER, CODE + LEAF + 3);
	assert_int_equal(add(&scene), 0);
	assert_int_equal(scene.n_given, n); /* there is room again */
	scene_done(&scene);
}

/* Whose stack is gone: the process is ending. */
static void in_the_kernel_without_stack_bytes_there_is_no_user_part(void **state)
{
	struct scene scene;

	scene_init(&scene);
	take_in_kernel(&scene, 1);
	scene.taken.event.sample.n_user_stack = 0;
	assert_int_equal(add(&scene), 0);
	assert_given(&scene, 0, 1, PERF_CONTEXT_KERNEL, KERNEL, KERNEL + 0x100);
	assert_counts(&scene, 0, 0);

	/* in user code the leaf is known */
	take(&scene, 2, CODE);
	scene.taken.event.sample.n_user_stack = 0;
	assert_int_equal(add(&scene), 0);
	answer(&scene, 7, true);
	update(&scene);
	assert_given(&scene, 1, 2, PERF_CONTEXT_USER, CODE + LEAF + 3);
	scene_done(&scene);
}

static void others_keep_the_call_chain_that_they_have(void **state)
{
	struct wanted_table wanted;
	struct scene scene;

	scene_init(&scene);
	take(&scene, 1, CODE);
	scene.taken.event.sample.user_is_32_bit = true;
	scene.taken.event.sample.n_callchain = 2;
	assert_int_equal(add(&scene), 0);
	assert_given(&scene, 0, 1, PERF_CONTEXT_USER, CODE + LEAF);
	take_in_kernel(&scene, 2);
	scene.taken.event.sample.user_is_32_bit = true;
	assert_int_equal(add(&scene), 0);
	assert_given(&scene, 1, 2, PERF_CONTEXT_KERNEL, KERNEL, KERNEL + 0x100);

	/* without registers: the kernel has walked frame pointers */
	take(&scene, 3, CODE);
	scene.taken.event.sample.user_registers = NULL;
	scene.taken.event.sample.user_registers_mask = 0;
	scene.taken.event.sample.n_user_stack = 0;
	scene.taken.event.sample.n_callchain = 2;
	assert_int_equal(add(&scene), 0);
	assert_given(&scene, 2, 3, PERF_CONTEXT_USER, CODE + LEAF);
	assert_counts(&scene, 0, 0);
	assert_false(table_exchange_take_wanted(scene.exchange, &wanted));
	scene_done(&scene);
}

/* And says how far each stack was walked. */
static void a_sample_waits_with_its_branch_records(void **state)
{
	struct branch_record row = { .from = 1, .to = 2 };
	struct scene scene;

	scene_init(&scene);
	take(&scene, 1, CODE);
	scene.taken.event.sample.rows = &row;
	scene.taken.event.sample.n_rows = 1;
	assert_int_equal(add(&scene), 0);
	assert_int_equal(scene.n_given, 0);
	row.from = 3;
	answer(&scene, 7, true);
	update(&scene);
	assert_given(&scene, 0, 1, USER_STACK);
	assert_int_equal(scene.given[0].unwound, SAMPLE_UNWOUND_LATE);
	assert_int_equal(scene.given[0].row, 1);

	assert_int_equal(add(&scene), 0);
	assert_given(&scene, 1, 1, USER_STACK);
	assert_int_equal(scene.given[1].unwound, SAMPLE_UNWOUND_WHOLE);
	assert_int_equal(scene.given[1].row, 3);
	scene_done(&scene);
}

/* The copy ends, or there is code without a table. */
static void a_stack_may_go_on_behind_the_call_chain(void **state)
{
	static uint64_t stack[BPF_SAMPLE_MAX_STACK / sizeof(uint64_t)];
	struct scene scene;

	scene_init(&scene);
	take(&scene, 1, CODE);
	assert_int_equal(add(&scene), 0);
	answer(&scene, 7, true);
	update(&scene);

	scene.taken.event.sample.n_user_stack -= 8; /* of MIDDLE */
	assert_int_equal(add(&scene), 0);
	assert_given(&scene, 1, 1, PERF_CONTEXT_USER, CODE + LEAF + 3, CODE + MIDDLE + 5);
	assert_int_equal(scene.given[1].unwound, SAMPLE_UNWOUND_SHORT); /* there was no room */
	memcpy(stack, scene.taken.stack, sizeof(scene.taken.stack));
	stack[1] = CODE + LARGE + 5;
	scene.taken.event.sample.user_stack = (const uint8_t *)stack;
	scene.taken.event.sample.n_user_stack = sizeof(stack);
	assert_int_equal(add(&scene), 0);
	assert_given(&scene, 2, 1, PERF_CONTEXT_USER, CODE + LEAF + 3, CODE + LARGE + 5);
	assert_int_equal(scene.given[2].unwound, SAMPLE_UNWOUND_COPY);
	assert_int_equal(scene.given[2].n_unwound, 16); /* LEAF has as much */

	take(&scene, 1, LIBRARY);
	assert_int_equal(add(&scene), 0);
	answer(&scene, 8, false);
	update(&scene);
	assert_int_equal(add(&scene), 0);
	assert_given(&scene, 4, 1, PERF_CONTEXT_USER, CODE + LEAF + 3, LIBRARY + MIDDLE + 5);
	assert_int_equal(scene.given[4].unwound, SAMPLE_UNWOUND_PART);
	assert_int_equal(scene.given[4].n_unwound, 16);
	scene_done(&scene);
}

/* No branch record tells it: the table is not there yet, it cannot be right, or the stack is gone.
 */
static void the_rest_of_a_stack_may_be_unknown(void **state)
{
	struct wanted_table wanted;
	struct scene scene;

	scene_init(&scene);
	take(&scene, 1, CODE);
	assert_int_equal(add(&scene), 0);
	answer(&scene, 7, true);
	update(&scene);

	take_in_kernel(&scene, 2);
	scene.taken.event.sample.n_user_stack = 0;
	assert_int_equal(add(&scene), 0);
	assert_given(&scene, 1, 2, PERF_CONTEXT_KERNEL, KERNEL, KERNEL + 0x100);
	assert_int_equal(scene.given[1].unwound, SAMPLE_UNWOUND_SHORT);

	take(&scene, 1, CODE);
	scene.taken.stack[1] = 1;
	assert_int_equal(add(&scene), 0);
	assert_given(&scene, 2, 1, PERF_CONTEXT_USER, CODE + LEAF + 3);
	assert_int_equal(scene.given[2].unwound, SAMPLE_UNWOUND_SHORT);

	take(&scene, 1, LIBRARY);
	assert_int_equal(add(&scene), 0);
	for (size_t i = 0; i < 100 && scene.n_given == 3; i++) { /* it cannot be had for long */
		if (table_exchange_take_wanted(scene.exchange, &wanted))
			table_exchange_put_built(
				scene.exchange,
				&(struct built_table){ .id = wanted.id, .later = true });
		update(&scene);
	}
	assert_int_equal(scene.given[3].unwound, SAMPLE_UNWOUND_LATE);
	assert_int_equal(add(&scene), 0);
	assert_given(&scene, 4, 1, PERF_CONTEXT_USER, CODE + LEAF + 3, LIBRARY + MIDDLE + 5);
	assert_int_equal(scene.given[4].unwound, SAMPLE_UNWOUND_SHORT);
	scene_done(&scene);
}

static void a_call_chain_of_any_length(void **state)
{
	struct scene scene;

	scene_init(&scene);
	take_in_kernel(&scene, 1);
	for (size_t i = 1; i < ARRAY_SIZE(scene.taken.chain); i++)
		scene.taken.chain[i] = KERNEL + i;
	scene.taken.chain[ARRAY_SIZE(scene.taken.chain) - 1] = PERF_CONTEXT_USER;
	scene.taken.event.sample.n_callchain = ARRAY_SIZE(scene.taken.chain);
	assert_int_equal(add(&scene), 0);
	answer(&scene, 7, true);
	update(&scene);
	assert_int_equal(scene.n_given, 1);
	assert_int_equal(scene.given[0].n, BPF_SAMPLE_MAX_FRAMES + 1 + 4);
	assert_int_equal(scene.given[0].chain[BPF_SAMPLE_MAX_FRAMES],
			 KERNEL + BPF_SAMPLE_MAX_FRAMES);
	assert_int_equal(scene.given[0].chain[BPF_SAMPLE_MAX_FRAMES + 1], PERF_CONTEXT_USER);
	scene_done(&scene);
}

static void errors_of_the_handler_come_back(void **state)
{
	struct scene scene;

	scene_init(&scene);
	take(&scene, 1, CODE);
	assert_int_equal(add(&scene), 0);
	assert_int_equal(add(&scene), 0);
	answer(&scene, 7, true);
	scene.result = -ENOMEM;
	assert_int_equal(live_unwinder_update(scene.unwinder, scene.processes), -ENOMEM);
	assert_int_equal(add(&scene), -ENOMEM);
	assert_int_equal(live_unwinder_flush(scene.unwinder, scene.processes), -ENOMEM);
	scene_done(&scene);
}

/* A sample keeps its meaning when its process runs another program. */
static void what_was_sampled_is_of_the_program_before_an_exec(void **state)
{
	const struct event exec = {
		.kind = EVENT_COMM, .pid = PID, .tid = PID, .comm = { .comm = "y", .exec = true }
	};
	struct scene scene;

	scene_init(&scene);
	take(&scene, 1, CODE);
	assert_int_equal(add(&scene), 0);
	assert_int_equal(processes_apply(scene.processes, &exec), 0);
	map(&scene, CODE, 8);
	answer(&scene, 7, true);
	update(&scene);
	assert_given(&scene, 0, 1, USER_STACK);
	scene_done(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_waits_for_its_table),
		cmocka_unit_test(a_sample_waits_for_all_its_tables),
		cmocka_unit_test(a_file_without_a_table_cuts_the_stack),
		cmocka_unit_test(code_without_a_table_is_walked_by_the_frame_pointer),
		cmocka_unit_test(flush_gives_all_out),
		cmocka_unit_test(the_oldest_that_do_not_fit_are_given_out),
		cmocka_unit_test(in_the_kernel_without_stack_bytes_there_is_no_user_part),
		cmocka_unit_test(others_keep_the_call_chain_that_they_have),
		cmocka_unit_test(a_sample_waits_with_its_branch_records),
		cmocka_unit_test(a_stack_may_go_on_behind_the_call_chain),
		cmocka_unit_test(the_rest_of_a_stack_may_be_unknown),
		cmocka_unit_test(a_call_chain_of_any_length),
		cmocka_unit_test(errors_of_the_handler_come_back),
		cmocka_unit_test(what_was_sampled_is_of_the_program_before_an_exec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
