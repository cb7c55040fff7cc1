/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The walker: any rules, any rows, any registers, any stack. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <elf.h>

#include "common/unwind/call-site.h"
#include "common/unwind/walk.h"

#define STACK      0x7ffc00000000ull
#define CODE       0x1000
#define CODE_END   0x9000
#define MAX_RULES  8
#define MAX_ROWS   40
#define MAX_FRAMES 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The head of an input. */
struct shape {
	uint8_t a64, n_rules, n_rows, max_frames;
	uint8_t checks_calls, has_table;
	uint16_t sp; /* where in the stack */
	uint64_t ip, fp, lr, bx;
	uint32_t known;
	uint32_t unused;
};

struct scene {
	struct unwind_table table;
	const uint8_t *code; /* bytes for call sites */
	size_t n_code;
	bool has_table, by_fp;
};

static bool locate(uint64_t address, struct unwind_code *ret, void *userdata)
{
	const struct scene *scene = userdata;

	ret->table = scene->has_table ? &scene->table : NULL;
	ret->offset = address;
	ret->by_fp = scene->by_fp;
	return address >= CODE && address < CODE_END;
}

static enum unwind_call follows_call(uint64_t address, void *userdata)
{
	const struct scene *scene = userdata;
	size_t n = address % (scene->n_code + 1);

	if (n > CALL_SITE_BYTES)
		n = CALL_SITE_BYTES;
	return call_site_precedes(scene->table.machine, scene->code, n) ? UNWIND_CALL_YES :
									  UNWIND_CALL_NO;
}

static void check(const struct unwind_input *input, const struct unwind_frame *frames,
		  size_t max_frames, const struct unwind_result *result)
{
	if (result->n_frames == 0 || result->n_frames > max_frames ||
	    result->n_by_fp >= result->n_frames || result->end >= UNWIND_END_N ||
	    frames[0].address != input->registers.ip)
		abort();
	for (size_t i = 1; i < result->n_frames; i++)
		if (frames[i].place < CODE || frames[i].place >= CODE_END)
			abort();
}

static void walk(const struct shape *shape, struct scene *scene, const uint8_t *stack, size_t n)
{
	size_t max_frames = 1 + shape->max_frames % MAX_FRAMES;
	struct unwind_frame *frames = calloc(max_frames, sizeof(*frames));
	struct unwind_result result;
	const struct unwind_input input = {
		.machine = scene->table.machine,
		.registers = { .ip = CODE + shape->ip % CODE_END,
			       .sp = STACK + shape->sp,
			       .fp = STACK + shape->fp % 0x2000,
			       .lr = shape->lr,
			       .values = { [UNWIND_X86_BX] = STACK + shape->bx % 0x2000 },
			       .known = shape->known },
		.stack = stack,
		.stack_address = STACK,
		.n_stack = n,
		.locate = locate,
		.follows_call = shape->checks_calls & 1 ? follows_call : NULL,
		.userdata = scene,
	};

	unwind_walk(&input, frames, max_frames, &result);
	check(&input, frames, max_frames, &result);
	free(frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwind_rule rules[MAX_RULES] = { 0 };
	uint32_t starts[MAX_ROWS];
	uint16_t ids[MAX_ROWS];
	struct unwind_rows rows;
	struct scene scene;
	struct shape shape;
	uint64_t start, end;
	uint8_t *stack;

	if (size < sizeof(shape) + sizeof(rules) + sizeof(ids))
		return 0;
	memcpy(&shape, data, sizeof(shape));
	memcpy(rules, data + sizeof(shape), sizeof(rules));
	memcpy(ids, data + sizeof(shape) + sizeof(rules), sizeof(ids));
	data += sizeof(shape) + sizeof(rules) + sizeof(ids);
	size -= sizeof(shape) + sizeof(rules) + sizeof(ids);
	for (size_t i = 0; i < MAX_RULES; i++) {
		rules[i].cfa %= UNWIND_CFA_N;
		rules[i].cfa_register %= UNWIND_N_REGISTERS;
		rules[i].fp %= UNWIND_SAVED_HELD;
		rules[i].ra %= UNWIND_SAVED_N;
		rules[i].bx %= UNWIND_SAVED_HELD;
		if (rules[i].cfa == UNWIND_CFA_JUMP)
			rules[i].fp_offset &= UNWIND_N_REGISTERS - 1;
		if (rules[i].cfa == UNWIND_CFA_JUMP || rules[i].ra == UNWIND_SAVED_HELD)
			rules[i].ra_offset &= UNWIND_N_REGISTERS - 1;
	}
	for (size_t i = 0; i < MAX_ROWS; i++) {
		starts[i] = (uint32_t)(CODE + i * (CODE_END - CODE) / MAX_ROWS);
		ids[i] = (ids[i] & UNWIND_FUNCTION) | ids[i] % (1 + shape.n_rules % MAX_RULES);
	}
	rows = (struct unwind_rows){
		.machine = shape.a64 & 1 ? EM_AARCH64 : EM_X86_64,
		.starts = starts,
		.rule_ids = ids,
		.n = shape.n_rows % (MAX_ROWS + 1),
		.rules = rules,
		.n_rules = MAX_RULES,
	};
	scene = (struct scene){
		.code = data,
		.n_code = size < CALL_SITE_BYTES ? size : CALL_SITE_BYTES,
		.has_table = shape.has_table & 1,
		.by_fp = shape.has_table & 2,
	};
	if (unwind_table_pack(&scene.table, &rows) < 0)
		return 0;
	if (!unwind_table_is_valid(&scene.table))
		abort();
	if (unwind_table_function(&scene.table, shape.ip % CODE_END, &start, &end) &&
	    (start > shape.ip % CODE_END || end <= shape.ip % CODE_END))
		abort();
	stack = malloc(size ?: 1);
	memcpy(stack, data, size);
	walk(&shape, &scene, stack, size);
	free(stack);
	unwind_table_done(&scene.table);
	return 0;
}
