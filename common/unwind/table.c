/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/unwind/table.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* The rows of a part, whose bytes are within those of the table. */
static struct packed_rows rows_of(const struct unwind_table *table, size_t part)
{
	bool last = part + 1 == unwind_table_n_parts(table->n_rows);

	return (struct packed_rows){
		.at = table->bytes + table->parts[part].at,
		.end = table->bytes + (last ? table->n_bytes : table->parts[part + 1].at),
		.start = table->parts[part].start,
	};
}

/* Whether parts follow each other without a gap in the bytes. */
static bool parts_are_valid(const struct unwind_table *table)
{
	size_t n = unwind_table_n_parts(table->n_rows), at = 0;

	for (size_t i = 0; i < n; i++) {
		if (table->parts[i].at < at || table->parts[i].at > table->n_bytes)
			return false;
		at = table->parts[i].at;
	}
	return n == 0 ? table->n_bytes == 0 : table->parts[0].at == 0;
}

/* Whether the rows of a part ascend from @at on, which becomes one more than the last. */
static bool part_is_valid(const struct unwind_table *table, size_t part, uint64_t *at)
{
	struct packed_rows rows = rows_of(table, part);
	size_t first = part * UNWIND_PART_ROWS;
	struct unwind_row row;

	for (size_t i = first; i < table->n_rows && i < first + UNWIND_PART_ROWS; i++) {
		if (!packed_rows_next(&rows, &row) || row.start < *at ||
		    (row.rule_id & ~UNWIND_FUNCTION) >= table->n_rules)
			return false;
		*at = (uint64_t)row.start + 1;
	}
	return rows.at == rows.end;
}

bool unwind_table_is_valid(const struct unwind_table *table)
{
	uint64_t at = 0;

	if (table->machine != EM_X86_64 && table->machine != EM_AARCH64)
		return table->n_rows == 0 && table->n_rules == 0 && table->n_bytes == 0;
	if (table->n_rules > UNWIND_MAX_RULES || !parts_are_valid(table))
		return false;
	for (size_t i = 0; i < table->n_rules; i++)
		if (!rule_is_valid(&table->rules[i]))
			return false;
	for (size_t i = 0; i < unwind_table_n_parts(table->n_rows); i++)
		if (!part_is_valid(table, i, &at))
			return false;
	return true;
}

/* The last part that starts at @offset or before; there is one. */
static size_t find_part(const struct unwind_table *table, uint64_t offset)
{
	size_t first = 0, n = unwind_table_n_parts(table->n_rows);

	/* one comparison a step, which compilers turn into a conditional move */
	while (n > 1) {
		size_t half = n / 2;

		first = table->parts[first + half].start <= offset ? first + half : first;
		n -= half;
	}
	return first;
}

/* The number of rows that start at @offset or before, and the last of them. */
static size_t count_until(const struct unwind_table *table, uint64_t offset, struct unwind_row *ret)
{
	struct packed_rows rows;
	struct unwind_row next;
	size_t part, n = 0;

	if (table->n_rows == 0 || table->parts[0].start > offset)
		return 0;
	part = find_part(table, offset);
	rows = rows_of(table, part);
	while (packed_rows_next(&rows, &next) && next.start <= offset) {
		*ret = next;
		n++;
	}
	return part * UNWIND_PART_ROWS + n;
}

struct unwind_row unwind_table_row(const struct unwind_table *table, size_t i)
{
	struct packed_rows rows = rows_of(table, i / UNWIND_PART_ROWS);
	struct unwind_row row = {};

	for (size_t n = 0; n <= i % UNWIND_PART_ROWS; n++)
		packed_rows_next(&rows, &row);
	return row;
}

static const struct unwind_rule *rule_of_row(const struct unwind_table *table,
					     const struct unwind_row *row)
{
	return &table->rules[row->rule_id & ~UNWIND_FUNCTION];
}

static bool says_nothing(const struct unwind_rule *rule)
{
	return rule->cfa == UNWIND_CFA_NONE || rule->cfa == UNWIND_CFA_POINTER;
}

const struct unwind_rule *unwind_table_find(const struct unwind_table *table, uint64_t offset)
{
	const struct unwind_rule *rule;
	struct unwind_row row;

	if (count_until(table, offset, &row) == 0)
		return NULL;
	rule = rule_of_row(table, &row);
	return says_nothing(rule) ? NULL : rule;
}

bool unwind_table_is_other_code(const struct unwind_table *table, uint64_t offset)
{
	struct unwind_row row;
	size_t n = count_until(table, offset, &row);
	uint8_t cfa = n > 0 ? rule_of_row(table, &row)->cfa : (uint8_t)UNWIND_CFA_N;

	return cfa == UNWIND_CFA_POINTER ||
	       (cfa == UNWIND_CFA_NONE && n < table->n_rows &&
		unwind_table_row(table, n).start - row.start >= UNWIND_OTHER_CODE);
}

/* The start of the function that row @n - 1 is of. */
static bool find_start(const struct unwind_table *table, size_t n, uint64_t *ret)
{
	struct unwind_row row, last = {};
	bool found = false, ended = false;

	while (n > 0 && !found && !ended) {
		size_t first = (n - 1) / UNWIND_PART_ROWS * UNWIND_PART_ROWS;
		struct packed_rows rows = rows_of(table, first / UNWIND_PART_ROWS);

		for (size_t i = first; i < n && packed_rows_next(&rows, &row); i++) {
			bool starts = row.rule_id & UNWIND_FUNCTION;

			if (!starts && !says_nothing(rule_of_row(table, &row)))
				continue;
			found = starts;
			ended = !starts;
			last = row;
		}
		n = first;
	}
	*ret = last.start;
	return found;
}

/* Where the function that row @n - 1 is of ends: at the start of another, or of unknown code. */
static bool find_end(const struct unwind_table *table, size_t n, uint64_t *ret)
{
	size_t first = n / UNWIND_PART_ROWS * UNWIND_PART_ROWS;
	struct packed_rows rows = {};
	struct unwind_row row;

	for (size_t i = first; i < table->n_rows; i++) {
		if (i % UNWIND_PART_ROWS == 0)
			rows = rows_of(table, i / UNWIND_PART_ROWS);
		if (!packed_rows_next(&rows, &row))
			return false;
		if (i < n)
			continue;
		*ret = row.start;
		if (row.rule_id & UNWIND_FUNCTION || says_nothing(rule_of_row(table, &row)))
			return true;
	}
	return false;
}

bool unwind_table_function(const struct unwind_table *table, uint64_t offset, uint64_t *ret_start,
			   uint64_t *ret_end)
{
	struct unwind_row row;
	size_t n = count_until(table, offset, &row);

	return find_start(table, n, ret_start) && find_end(table, n, ret_end);
}

size_t unwind_table_bytes(const struct unwind_table *table)
{
	return table->n_rules * sizeof(*table->rules) +
	       unwind_table_n_parts(table->n_rows) * sizeof(*table->parts) + table->n_bytes;
}

/* The memory of a table's arrays, which tables may share. */
struct block {
	_Atomic size_t n_users;
	uint8_t bytes[];
};

/* The arrays of @table, to be filled. */
struct arrays {
	struct unwind_rule *rules;
	struct unwind_part *parts;
	uint8_t *bytes;
};

/* Makes room for as much as @table says. 0 or -ENOMEM. */
static int make_room(struct unwind_table *table, struct arrays *ret)
{
	struct block *block = malloc(sizeof(*block) + unwind_table_bytes(table));

	if (!block)
		return -ENOMEM;
	block->n_users = 1;
	table->memory = block;
	table->rules = ret->rules = (struct unwind_rule *)block->bytes;
	table->parts = ret->parts = (struct unwind_part *)(ret->rules + table->n_rules);
	table->bytes = ret->bytes = (uint8_t *)(ret->parts + unwind_table_n_parts(table->n_rows));
	return 0;
}

static void copy_array(void *to, const void *from, size_t n)
{
	if (n > 0)
		memcpy(to, from, n);
}

/* The first row of a part has no distance. */
static size_t pack_row(const struct unwind_rows *rows, size_t i, uint8_t *to)
{
	uint32_t distance = i % UNWIND_PART_ROWS > 0 ? rows->starts[i] - rows->starts[i - 1] : 0;

	return packed_rows_write(to, distance, rows->rule_ids[i]);
}

static size_t count_bytes(const struct unwind_rows *rows)
{
	uint8_t row[PACKED_ROW_MAX_BYTES];
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
		n += pack_row(rows, i, row);
	return n;
}

int unwind_table_pack(struct unwind_table *ret, const struct unwind_rows *rows)
{
	struct unwind_table table = {
		.machine = rows->machine,
		.n_rows = rows->n,
		.n_rules = rows->n_rules,
		.n_bytes = count_bytes(rows),
	};
	struct arrays arrays;
	size_t at = 0;

	if (make_room(&table, &arrays) < 0)
		return -ENOMEM;
	copy_array(arrays.rules, rows->rules, rows->n_rules * sizeof(*rows->rules));
	for (size_t i = 0; i < rows->n; i++) {
		if (i % UNWIND_PART_ROWS == 0)
			arrays.parts[i / UNWIND_PART_ROWS] =
				(struct unwind_part){ rows->starts[i], (uint32_t)at };
		at += pack_row(rows, i, arrays.bytes + at);
	}
	*ret = table;
	return 0;
}

int unwind_table_copy(struct unwind_table *ret, const struct unwind_table *table)
{
	size_t n_parts = unwind_table_n_parts(table->n_rows);
	struct unwind_table copy = *table;
	struct arrays arrays;

	if (make_room(&copy, &arrays) < 0)
		return -ENOMEM;
	copy_array(arrays.rules, table->rules, table->n_rules * sizeof(*table->rules));
	copy_array(arrays.parts, table->parts, n_parts * sizeof(*table->parts));
	copy_array(arrays.bytes, table->bytes, table->n_bytes);
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
