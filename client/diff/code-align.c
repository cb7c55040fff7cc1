/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The longest common subsequence of instructions between the common beginning and the common end,
 * by the table of Wagner and Fischer (J. ACM 21, 1974). Instructions are compared without distances
 * and addresses; but a branch within the function must lead to the same instruction.
 *
 * Limit: if the middle is too long for the table, it counts as changed.
 */
#include "client/diff/code-align.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"

#define MAX_TABLE (16u << 20) /* cells: 4096 instructions of each */

struct op {
	uint32_t offset, size;
	uint32_t target; /* within the function, or ALIGN_NONE */
	uint8_t fixed[INSTRUCTION_MAX];
};

struct ops {
	struct op *rows;
	size_t n;
};

static void ops_done(struct ops *ops)
{
	free(ops->rows);
}

static int list_ops(struct ops *ret, const struct code_align_side *code)
{
	const struct disassembly *all = code->instructions;

	if (ARRAY_ALLOCATE(&ret->rows, all->n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < all->n; i++) {
		const struct instruction *row = &all->rows[i];
		uint64_t distance = row->target - code->address;
		struct op *op = &ret->rows[ret->n++];

		*op = (struct op){
			.offset = (uint32_t)(row->address - code->address),
			.size = (uint32_t)row->size,
			.target = ALIGN_NONE,
		};
		memcpy(op->fixed, row->fixed, sizeof(op->fixed));
		if (row->has_target && row->kind != BRANCH_UNKNOWN && distance < code->n)
			op->target = (uint32_t)distance;
	}
	return 0;
}

static bool same(const struct op *a, const struct op *b)
{
	return a->size == b->size && (a->target == ALIGN_NONE) == (b->target == ALIGN_NONE) &&
	       memcmp(a->fixed, b->fixed, a->size) == 0;
}

/* @n and @m instructions from @a and @b on; table[i][k] is the length of the longest common
 * subsequence from i and k on. */
static int align_table(uint32_t *to, const struct op *a, size_t n, const struct op *b, size_t m)
{
	_cleanup_free_ uint16_t *table = NULL;
	size_t width = m + 1, i = 0, k = 0;

	if (n == 0 || m == 0 || (n + 1) * width > MAX_TABLE || MIN(n, m) > UINT16_MAX)
		return 0;
	table = calloc((n + 1) * width, sizeof(*table));
	if (!table)
		return -ENOMEM;
	for (size_t row = n; row-- > 0;)
		for (size_t column = m; column-- > 0;)
			table[row * width + column] =
				same(&a[row], &b[column]) ?
					(uint16_t)(table[(row + 1) * width + column + 1] + 1) :
					MAX(table[(row + 1) * width + column],
					    table[row * width + column + 1]);
	while (i < n && k < m)
		if (same(&a[i], &b[k]))
			to[a[i++].offset] = b[k++].offset;
		else if (table[(i + 1) * width + k] >= table[i * width + k + 1])
			i++;
		else
			k++;
	return 0;
}

static void drop_redirected(uint32_t *to, const struct ops *a, const struct ops *b)
{
	size_t k = 0;

	for (size_t i = 0; i < a->n; i++) {
		const struct op *op = &a->rows[i];

		if (to[op->offset] == ALIGN_NONE || op->target == ALIGN_NONE)
			continue;
		while (b->rows[k].offset < to[op->offset])
			k++;
		if (to[op->target] < ALIGN_INSIDE && to[op->target] != b->rows[k].target)
			to[op->offset] = ALIGN_NONE;
	}
}

static int align_ops(uint32_t *to, const struct ops *a, const struct ops *b)
{
	size_t head = 0, tail = 0, shorter = MIN(a->n, b->n);
	int r;

	for (; head < shorter && same(&a->rows[head], &b->rows[head]); head++)
		to[a->rows[head].offset] = b->rows[head].offset;
	for (; tail < shorter - head && same(&a->rows[a->n - tail - 1], &b->rows[b->n - tail - 1]);
	     tail++)
		to[a->rows[a->n - tail - 1].offset] = b->rows[b->n - tail - 1].offset;
	r = align_table(to, a->rows + head, a->n - head - tail, b->rows + head, b->n - head - tail);
	if (r >= 0)
		drop_redirected(to, a, b);
	return r;
}

/* Until they are aligned, all instructions are ALIGN_NONE. */
static void mark_starts(uint32_t *to, size_t n, const struct ops *ops)
{
	for (size_t i = 0; i < n; i++)
		to[i] = ALIGN_INSIDE;
	for (size_t i = 0; i < ops->n; i++)
		to[ops->rows[i].offset] = ALIGN_NONE;
}

int code_align_functions(uint32_t **ret, const struct code_align_side *old_code,
			 const struct code_align_side *new_code)
{
	_cleanup_free_ uint32_t *to = malloc((old_code->n + 1) * sizeof(*to));
	_cleanup_(ops_done) struct ops a = {}, b = {};
	int r = to ? 0 : -ENOMEM;

	if (r >= 0)
		r = list_ops(&a, old_code);
	if (r >= 0)
		r = list_ops(&b, new_code);
	if (r < 0)
		return r;
	mark_starts(to, old_code->n, &a);
	r = align_ops(to, &a, &b);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(to);
	return 0;
}

int code_align_back(uint32_t **ret, const struct code_align_side *new_code,
		    const struct code_align_side *old_code)
{
	_cleanup_free_ uint32_t *back = malloc((new_code->n + 1) * sizeof(*back));
	_cleanup_free_ uint32_t *to = NULL;
	_cleanup_(ops_done) struct ops ops = {};
	int r = back ? list_ops(&ops, new_code) : -ENOMEM;

	if (r >= 0)
		r = code_align_functions(&to, old_code, new_code);
	if (r < 0)
		return r;
	mark_starts(back, new_code->n, &ops);
	for (uint32_t i = 0; i < old_code->n; i++)
		if (to[i] < ALIGN_INSIDE)
			back[to[i]] = i;
	*ret = TAKE_PTR(back);
	return 0;
}
