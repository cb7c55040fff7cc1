/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/unwind/table.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/macro.h"

#define ROWS_A_PART 16

static bool is_register(int32_t number)
{
	return number >= 0 && number < UNWIND_N_REGISTERS;
}

static bool rule_is_valid(const struct unwind_rule *rule)
{
	return rule->cfa < UNWIND_CFA_N && rule->cfa_register < UNWIND_N_REGISTERS &&
	       rule->fp < UNWIND_SAVED_HELD && rule->ra < UNWIND_SAVED_N &&
	       rule->bx < UNWIND_SAVED_HELD &&
	       (rule->ra != UNWIND_SAVED_HELD || is_register(rule->ra_offset)) &&
	       (rule->cfa != UNWIND_CFA_JUMP ||
		(is_register(rule->fp_offset) && is_register(rule->ra_offset)));
}

bool unwind_table_is_valid(const struct unwind_table *table)
{
	if (table->machine != EM_X86_64 && table->machine != EM_AARCH64)
		return table->n_rows == 0 && table->n_rules == 0;
	if (table->n_rules > UNWIND_MAX_RULES)
		return false;
	for (size_t i = 0; i < table->n_rules; i++)
		if (!rule_is_valid(&table->rules[i]))
			return false;
	for (size_t i = 0; i < table->n_rows; i++) {
		if (i > 0 && table->starts[i] <= table->starts[i - 1])
			return false;
		if ((table->rule_ids[i] & ~UNWIND_FUNCTION) >= table->n_rules)
			return false;
	}
	return true;
}

/* The rows among which the one at @offset is: from *@ret_first on, @ret_n of them. */
static void narrow(const struct unwind_table *table, uint64_t offset, size_t *ret_first,
		   size_t *ret_n)
{
	size_t part;

	*ret_first = 0;
	*ret_n = table->n_rows;
	if (!table->index || offset < table->starts[0])
		return;
	part = MIN((offset - table->starts[0]) >> table->index_shift, table->n_index - 2);
	*ret_first = table->index[part];
	*ret_n = table->index[part + 1] + 1 - *ret_first;
}

/* The number of rows that start at @offset or before. */
static size_t count_until(const struct unwind_table *table, uint64_t offset)
{
	const uint32_t *starts = table->starts;
	size_t first, n;

	narrow(table, offset, &first, &n);
	/* one comparison a step, which compilers turn into a conditional move */
	while (n > 1) {
		size_t half = n / 2;

		first = starts[first + half] <= offset ? first + half : first;
		n -= half;
	}
	return n && starts[first] <= offset ? first + 1 : 0;
}

static const struct unwind_rule *rule_of_row(const struct unwind_table *table, size_t row)
{
	return &table->rules[table->rule_ids[row] & ~UNWIND_FUNCTION];
}

static bool says_nothing(const struct unwind_rule *rule)
{
	return rule->cfa == UNWIND_CFA_NONE || rule->cfa == UNWIND_CFA_POINTER;
}

const struct unwind_rule *unwind_table_find(const struct unwind_table *table, uint64_t offset)
{
	const struct unwind_rule *rule;
	size_t n = count_until(table, offset);

	if (n == 0)
		return NULL;
	rule = rule_of_row(table, n - 1);
	return says_nothing(rule) ? NULL : rule;
}

bool unwind_table_is_other_code(const struct unwind_table *table, uint64_t offset)
{
	size_t n = count_until(table, offset);
	uint8_t cfa = n > 0 ? rule_of_row(table, n - 1)->cfa : (uint8_t)UNWIND_CFA_N;

	return cfa == UNWIND_CFA_POINTER ||
	       (cfa == UNWIND_CFA_NONE && n < table->n_rows &&
		table->starts[n] - table->starts[n - 1] >= UNWIND_OTHER_CODE);
}

bool unwind_table_function(const struct unwind_table *table, uint64_t offset, uint64_t *ret_start,
			   uint64_t *ret_end)
{
	size_t n = count_until(table, offset), first, end;

	for (first = n; first > 0 && !(table->rule_ids[first - 1] & UNWIND_FUNCTION); first--)
		if (says_nothing(rule_of_row(table, first - 1)))
			return false;
	if (first == 0)
		return false;
	for (end = n; end < table->n_rows && !(table->rule_ids[end] & UNWIND_FUNCTION); end++)
		if (says_nothing(rule_of_row(table, end)))
			break;
	if (end == table->n_rows)
		return false;
	*ret_start = table->starts[first - 1];
	*ret_end = table->starts[end];
	return true;
}

static void *copy_array(void *to, const void *from, size_t n)
{
	if (n > 0)
		memcpy(to, from, n);
	return to;
}

size_t unwind_table_bytes(const struct unwind_table *table)
{
	return table->n_rows * (sizeof(*table->starts) + sizeof(*table->rule_ids)) +
	       table->n_rules * sizeof(*table->rules) + table->n_index * sizeof(*table->index);
}

/* Parts are as small as the number of rows permits. */
static void choose_parts(struct unwind_table *table)
{
	uint32_t size;

	table->index = NULL;
	table->n_index = 0;
	table->index_shift = 0;
	if (table->n_rows < 2 * ROWS_A_PART)
		return;
	size = table->starts[table->n_rows - 1] - table->starts[0];
	while (size >> table->index_shift >= table->n_rows / ROWS_A_PART)
		table->index_shift++;
	table->n_index = (size >> table->index_shift) + 2;
}

static void fill_index(const struct unwind_table *table, uint32_t *index)
{
	size_t row = 0;

	for (size_t i = 0; i < table->n_index; i++) {
		uint64_t start = table->starts[0] + ((uint64_t)i << table->index_shift);

		while (row + 1 < table->n_rows && table->starts[row + 1] <= start)
			row++;
		index[i] = (uint32_t)row;
	}
}

/* The memory of a table's arrays, which tables may share. */
struct block {
	_Atomic size_t n_users;
	uint8_t bytes[];
};

int unwind_table_copy(struct unwind_table *ret, const struct unwind_table *table)
{
	size_t n_rules = table->n_rules * sizeof(*table->rules);
	size_t n_starts = table->n_rows * sizeof(*table->starts);
	size_t n_ids = table->n_rows * sizeof(*table->rule_ids);
	struct unwind_table copy = *table;
	struct block *block;
	uint8_t *to;

	choose_parts(&copy);
	block = malloc(sizeof(*block) + unwind_table_bytes(&copy));
	if (!block)
		return -ENOMEM;
	block->n_users = 1;
	to = block->bytes;
	copy.memory = block;
	copy.rules = copy_array(to, table->rules, n_rules);
	copy.starts = copy_array(to += n_rules, table->starts, n_starts);
	to += n_starts;
	if (copy.n_index > 0) {
		copy.index = (const uint32_t *)to;
		fill_index(&copy, (uint32_t *)to);
		to += copy.n_index * sizeof(*copy.index);
	}
	copy.rule_ids = copy_array(to, table->rule_ids, n_ids);
	*ret = copy;
	return 0;
}

void unwind_table_share(struct unwind_table *ret, const struct unwind_table *table)
{
	struct block *block = table->memory;

	if (block)
		block->n_users++;
	*ret = *table;
}

void unwind_table_done(struct unwind_table *table)
{
	struct block *block = table->memory;

	if (block && --block->n_users == 0)
		free(block);
	*table = (struct unwind_table){};
}
