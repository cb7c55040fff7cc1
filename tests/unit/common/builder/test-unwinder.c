/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Samples with registers and a copy of the stack, in a builder and alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "common/builder/unwinder.h"
#include "tests/support/builder-window.h"

#define STACK 0x7ffc00001000ull
#define IP    (CODE + 0x1004)

/* As the kernel numbers them: enum perf_event_x86_regs. */
#define REGISTER_SP 7
#define REGISTER_IP 8

/* Functions of /bin/x, at each 0x1000: a leaf, its caller, and the start of the thread. */
static const struct unwind_rule rules[] = {
	{ .cfa = UNWIND_CFA_NONE },
	{ .cfa = UNWIND_CFA_REGISTER,
	  .cfa_register = UNWIND_X86_SP,
	  .cfa_offset = 8,
	  .ra = UNWIND_SAVED_CFA,
	  .ra_offset = -8 },
	{ .cfa = UNWIND_CFA_REGISTER,
	  .cfa_register = UNWIND_X86_SP,
	  .cfa_offset = 16,
	  .ra = UNWIND_SAVED_CFA,
	  .ra_offset = -8 },
	{ .cfa = UNWIND_CFA_END },
};
static const uint32_t starts[] = { 0, 0x1000, 0x2000, 0x3000, 0x4000 };
static const uint16_t ids[] = { 0, 1, 2, 3, 0 };

/* A sample, and the tables that were asked for. */
struct scene {
	struct window window;
	struct unwinder *unwinder;
	uint64_t registers[17];
	uint64_t stack[4];
	uint64_t chain[8];
	struct event event;
	unsigned int n_asked;
	int r;
};

static int get_table(const struct profile_object *object, struct unwind_table *ret, void *userdata)
{
	const struct unwind_rows rows = {
		.machine = EM_X86_64,
		.starts = starts,
		.rule_ids = ids,
		.n = ARRAY_SIZE(starts),
		.rules = rules,
		.n_rules = ARRAY_SIZE(rules),
	};
	struct scene *scene = userdata;

	scene->n_asked++;
	*ret = (struct unwind_table){};
	if (scene->r < 0 || strcmp(object->path, "/bin/x"))
		return scene->r;
	return unwind_table_pack(ret, &rows) < 0 ? -ENOMEM : 1;
}

static void set_registers(struct scene *scene, uint64_t ip)
{
	struct sample *s = &scene->event.sample;
	size_t at = 0;

	s->user_registers = scene->registers;
	s->user_registers_mask = 0xff01ff;
	s->ip = ip;
	for (unsigned int i = 0; i < 24; i++)
		if (s->user_registers_mask >> i & 1)
			scene->registers[at++] = i == REGISTER_IP ? ip :
						 i == REGISTER_SP ? STACK :
								    0;
}

static void open_scene(struct scene *scene)
{
	const struct unwinder_settings settings = { get_table, scene };
	struct builder_settings builder = { 0 };

	*scene = (struct scene){
		.event = { .kind = EVENT_SAMPLE, .pid = PID, .tid = PID },
		.stack = { CODE + 0x2010, 0, CODE + 0x3010 },
	};
	assert_int_equal(unwinder_new(&scene->unwinder, &settings, EM_X86_64), 0);
	builder.unwinder = scene->unwinder;
	window_init(&scene->window, &builder);
	scene->event.sample.period = 1;
	scene->event.sample.mode = CPU_MODE_USER;
	scene->event.sample.user_stack = (const uint8_t *)scene->stack;
	scene->event.sample.n_user_stack = sizeof(scene->stack);
	set_registers(scene, IP);
}

static void close_scene(struct scene *scene)
{
	window_done(&scene->window);
	unwinder_free(scene->unwinder);
}

static int unwind(struct scene *scene, struct stack *stack, struct unwind_result *ret)
{
	struct processes *processes = scene->window.processes;

	return unwinder_add(scene->unwinder, processes, processes_find(processes, PID),
			    &scene->event.sample, stack, ret);
}

#define assert_frames(stack, ...)                                                     \
	do {                                                                          \
		const uint64_t _expected[] = { __VA_ARGS__ };                         \
                                                                                      \
		assert_int_equal((stack)->n, ARRAY_SIZE(_expected));                  \
		for (size_t _i = 0; _i < ARRAY_SIZE(_expected); _i++)                 \
			assert_int_equal((stack)->frames[_i].address, _expected[_i]); \
	} while (0)

static void test_frames_of_user_code(void **state)
{
	struct unwind_result result;
	struct stack stack = {};
	struct scene scene;

	open_scene(&scene);
	assert_int_equal(unwind(&scene, &stack, &result), 1);
	assert_int_equal(result.end, UNWIND_COMPLETE);
	assert_frames(&stack, IP, CODE + 0x2010, CODE + 0x3010);
	assert_int_equal(stack.frames[0].place, IP);
	assert_int_equal(stack.frames[1].place, CODE + 0x200f);
	stack_done(&stack);
	close_scene(&scene);
}

/* The kernel's frames stay, and the user's of the chain, fewer or wrong, go. */
static void test_frames_behind_those_of_the_kernel(void **state)
{
	const uint64_t kernel = 0xffffffff81000010;
	struct unwind_result result;
	struct stack stack = {};
	struct scene scene;

	open_scene(&scene);
	scene.event.sample.ip = kernel;
	assert_int_equal(unwind(&scene, &stack, &result), 1);
	assert_frames(&stack, kernel, IP, CODE + 0x2010, CODE + 0x3010);
	stack.n = 0;
	assert_int_equal(stack_push(&stack, kernel, kernel), 0);
	assert_int_equal(stack_push(&stack, kernel + 9, kernel + 8), 0);
	assert_int_equal(stack_push(&stack, IP, IP), 0);
	assert_int_equal(stack_push(&stack, 77, 76), 0);
	assert_int_equal(unwind(&scene, &stack, &result), 1);
	assert_frames(&stack, kernel, kernel + 9, IP, CODE + 0x2010, CODE + 0x3010);
	stack_done(&stack);
	close_scene(&scene);
}

static void test_samples_that_cannot_be_unwound(void **state)
{
	struct unwind_result result;
	struct stack stack = {};
	struct scene scene;

	open_scene(&scene);
	scene.event.sample.n_user_stack = 0;
	assert_int_equal(unwind(&scene, &stack, &result), 0);
	scene.event.sample.n_user_stack = sizeof(scene.stack);
	scene.event.sample.user_is_32_bit = true;
	assert_int_equal(unwind(&scene, &stack, &result), 0);
	scene.event.sample.user_is_32_bit = false;
	scene.event.sample.call_stack = true;
	assert_int_equal(unwind(&scene, &stack, &result), 0);
	scene.event.sample.call_stack = false;
	scene.event.sample.user_registers = NULL;
	assert_int_equal(unwind(&scene, &stack, &result), 0);
	assert_int_equal(stack.n, 0);
	stack_done(&stack);
	close_scene(&scene);
}

static void test_a_table_is_asked_for_once(void **state)
{
	struct unwind_result result;
	struct stack stack = {};
	struct scene scene;

	open_scene(&scene);
	scene.r = -ENOMEM;
	assert_int_equal(unwind(&scene, &stack, &result), -ENOMEM);
	scene.r = 0;
	scene.n_asked = 0;
	for (int i = 0; i < 3; i++)
		assert_int_equal(unwind(&scene, &stack, &result), 1);
	assert_int_equal(scene.n_asked, 1);
	set_registers(&scene, LIB + 4); /* it has none */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(unwind(&scene, &stack, &result), 1);
		assert_int_equal(result.n_frames, 1);
	}
	assert_int_equal(scene.n_asked, 2);
	stack_done(&stack);
	close_scene(&scene);
}

/* Only where it is known that an object has no table, its code is walked by the frame pointer. */
static void test_code_without_a_table(void **state)
{
	struct unwind_result result;
	struct stack stack = {};
	struct scene scene;

	for (int known = 0; known < 2; known++) {
		open_scene(&scene);
		scene.r = known;
		set_registers(&scene, LIB + 4);
		scene.registers[6] = STACK;
		scene.stack[0] = 0;
		scene.stack[1] = CODE + 0x3010;
		assert_int_equal(unwind(&scene, &stack, &result), 1);
		assert_int_equal(result.end, known ? UNWIND_COMPLETE : UNWIND_NO_TABLE);
		assert_int_equal(result.n_by_fp, known);
		close_scene(&scene);
	}
	stack_done(&stack);
}

static void test_the_builder_counts_the_ends(void **state)
{
	struct profile_counters *c;
	struct scene scene;
	struct window *w;

	open_scene(&scene);
	w = &scene.window;
	assert_int_equal(builder_add(w->builder, w->processes, &scene.event), 0);
	assert_int_equal(builder_add(w->builder, w->processes, &scene.event), 0);
	scene.event.sample.n_user_stack = 16;
	assert_int_equal(builder_add(w->builder, w->processes, &scene.event), 0);
	scene.event.sample.n_user_stack = sizeof(scene.stack);
	scene.stack[2] = 0x10;
	assert_int_equal(builder_add(w->builder, w->processes, &scene.event), 0);
	scene.event.sample.n_user_stack = 0;
	assert_int_equal(builder_add(w->builder, w->processes, &scene.event), 0);
	assert_int_equal(builder_close(w->builder, w->processes, &w->profile), 0);
	assert_int_equal(profile_finalize(w->profile), 0);
	c = &w->profile->counters;
	assert_int_equal(c->samples, 5);
	assert_int_equal(c->stacks_unwound, 4);
	assert_int_equal(c->stacks_complete, 2);
	assert_int_equal(c->stacks_copy_end, 1);
	assert_int_equal(c->stacks_no_return, 1);
	/* start; start and caller; start, caller and leaf; caller; caller and leaf; the leaf alone
	 */
	assert_int_equal(w->profile->n_stacks, 6);
	close_scene(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames_of_user_code),
		cmocka_unit_test(test_frames_behind_those_of_the_kernel),
		cmocka_unit_test(test_samples_that_cannot_be_unwound),
		cmocka_unit_test(test_a_table_is_asked_for_once),
		cmocka_unit_test(test_code_without_a_table),
		cmocka_unit_test(test_the_builder_counts_the_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
