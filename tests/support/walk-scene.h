/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walks over stacks that are written by hand. The code is made up: address 0x1000 * i has the rule
 * number i of a case; there is no code from 0x100000 on.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <string.h>

#include "common/unwind/walk.h"
#include "common/util/macro.h"

#define STACK     0x7ffc00001000UL
#define PAGE      0x1000UL
#define CODE_END  0x100000UL
#define MAX_RULES 16
#define MAX_DEPTH 16

#define SP_PLUS(n)                                                                    \
	.cfa = UNWIND_CFA_REGISTER, .cfa_register = UNWIND_X86_SP, .cfa_offset = (n), \
	.ra = UNWIND_SAVED_CFA, .ra_offset = -8

struct scene {
	struct unwind_rule rules[MAX_RULES]; /* [0] is none */
	uint32_t starts[MAX_RULES];
	uint16_t ids[MAX_RULES];
	uint64_t stack[144];
	uint16_t machine;          /* 0: EM_X86_64 */
	struct unwind_table table; /* during a walk */
	struct unwind_input input;
	uint64_t no_call; /* an address that follows none */
	bool no_fp;       /* code without a rule is not walked by the frame pointer */
	struct unwind_frame frames[MAX_DEPTH];
	struct unwind_result result;
};

static inline bool locate(uint64_t address, struct unwind_code *ret, void *userdata)
{
	struct scene *scene = userdata;

	*ret = (struct unwind_code){ .table = &scene->table,
				     .offset = address,
				     .by_fp = !scene->no_fp };
	return address < CODE_END && address >= PAGE;
}

static inline enum unwind_call follows_call(uint64_t address, void *userdata)
{
	const struct scene *scene = userdata;

	return address == scene->no_call ? UNWIND_CALL_NO : UNWIND_CALL_UNKNOWN;
}

static inline void walk_at_most(struct scene *scene, uint64_t ip, size_t max)
{
	struct unwind_rows rows;

	for (size_t i = 0; i < MAX_RULES; i++) {
		scene->starts[i] = (uint32_t)(i * PAGE);
		scene->ids[i] = (uint16_t)i;
	}
	rows = (struct unwind_rows){
		.machine = scene->machine ?: EM_X86_64,
		.starts = scene->starts,
		.rule_ids = scene->ids,
		.n = MAX_RULES,
		.rules = scene->rules,
		.n_rules = MAX_RULES,
	};
	assert_int_equal(unwind_table_pack(&scene->table, &rows), 0);
	assert_true(unwind_table_is_valid(&scene->table));
	scene->input.machine = rows.machine;
	scene->input.registers.ip = ip;
	if (!scene->input.registers.sp)
		scene->input.registers.sp = STACK;
	scene->input.stack = (const uint8_t *)scene->stack;
	scene->input.stack_address = STACK;
	if (!scene->input.n_stack)
		scene->input.n_stack = sizeof(scene->stack);
	scene->input.locate = locate;
	scene->input.follows_call = follows_call;
	scene->input.userdata = scene;
	unwind_walk(&scene->input, scene->frames, max, &scene->result);
	unwind_table_done(&scene->table);
}

static inline void walk(struct scene *scene, uint64_t ip)
{
	walk_at_most(scene, ip, MAX_DEPTH);
}

#define assert_walk(scene, why, ...)                                                  \
	do {                                                                          \
		const uint64_t _expected[] = { __VA_ARGS__ };                         \
                                                                                      \
		assert_int_equal((scene)->result.end, why);                           \
		assert_int_equal((scene)->result.n_frames, ARRAY_SIZE(_expected));    \
		for (size_t _i = 0; _i < ARRAY_SIZE(_expected); _i++)                 \
			assert_int_equal((scene)->frames[_i].address, _expected[_i]); \
	} while (0)

/* leaf: sp + 8; caller: sp + 16; outermost: no caller */
static const struct unwind_rule three[MAX_RULES] = {
	[1] = { SP_PLUS(8) },
	[2] = { SP_PLUS(16) },
	[3] = { .cfa = UNWIND_CFA_END },
};

static inline struct scene make(const struct unwind_rule *rules)
{
	struct scene scene = { .stack = { 0x2010, 0, 0x3010 } };

	memcpy(scene.rules, rules, sizeof(scene.rules));
	return scene;
}
