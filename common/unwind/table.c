/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/unwind/table.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/macro.h"

static bool is_register(int32_t number)
{
	return number >= 0 && number < UNWIND_N_REGISTERS;
}

static bool rule_is_valid(const struct unwind_rule *rule)
{
	return rule->cfa < UNWIND_CFA_N && rule->cfa_register < UNWIND_N_REGISTERS &&
	       rule->fp < UNWIND_SAVED_N && rule->ra < UNWIND_SAVED_N &&
	       rule->bx < UNWIND_SAVED_N &&
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

/* The number of rows that start at @offset or before. */
static size_t count_until(const struct unwind_table *table, uint64_t offset)
{
	const uint32_t *starts = table->starts;
	size_t first = 0, n = table->n_rows;

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

const struct unwind_rule *unwind_table_find(const struct unwind_table *table, uint64_t offset)
{
	const struct unwind_rule *rule;
	size_t n = count_until(table, offset);

	if (n == 0)
		return NULL;
	rule = rule_of_row(table, n - 1);
	return rule->cfa == UNWIND_CFA_NONE ? NULL : rule;
}

bool unwind_table_function(const struct unwind_table *table, uint64_t offset, uint64_t *ret_start,
			   uint64_t *ret_end)
{
	size_t n = count_until(table, offset), first, end;

	for (first = n; first > 0 && !(table->rule_ids[first - 1] & UNWIND_FUNCTION); first--)
		if (rule_of_row(table, first - 1)->cfa == UNWIND_CFA_NONE)
			return false;
	if (first == 0)
		return false;
	for (end = n; end < table->n_rows && !(table->rule_ids[end] & UNWIND_FUNCTION); end++)
		if (rule_of_row(table, end)->cfa == UNWIND_CFA_NONE)
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
	       table->n_rules * sizeof(*table->rules);
}

int unwind_table_copy(struct unwind_table *ret, const struct unwind_table *table)
{
	size_t n_rules = table->n_rules * sizeof(*table->rules);
	size_t n_starts = table->n_rows * sizeof(*table->starts);
	size_t n_ids = table->n_rows * sizeof(*table->rule_ids);
	uint8_t *memory = malloc(MAX(n_rules + n_starts + n_ids, (size_t)1));

	if (!memory)
		return -ENOMEM;
	*ret = *table;
	ret->memory = memory;
	ret->rules = copy_array(memory, table->rules, n_rules);
	ret->starts = copy_array(memory + n_rules, table->starts, n_starts);
	ret->rule_ids = copy_array(memory + n_rules + n_starts, table->rule_ids, n_ids);
	return 0;
}

void unwind_table_done(struct unwind_table *table)
{
	free(table->memory);
	*table = (struct unwind_table){};
}
