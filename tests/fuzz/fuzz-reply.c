/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The answers of a parser under foreign control: each kind read from any bytes, and all of what is
 * accepted looked at.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/parser/answers.h"

#define PIECES 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t sink;

static void look_at(const char *text)
{
	if (text)
		sink += strlen(text);
}

static void read_identity(struct message_reader *reader)
{
	struct parser_identity identity = {};

	if (answers_read_identity(reader, &identity) < 0)
		return;
	look_at(identity.debuglink);
	for (size_t i = 0; i < identity.loads.n; i++)
		sink += identity.loads.rows[i].size;
	answers_identity_done(&identity);
}

static void read_table(struct message_reader *reader, size_t n)
{
	size_t n_code, n_bytes;
	struct parser_table table = {};

	if (answers_read_table(reader, n, &table, &n_code, &n_bytes) < 0)
		return;
	for (size_t i = 0; i < table.n; i++) {
		look_at(table.rows[i].name);
		sink += table.rows[i].last;
	}
	free(table.memory);
}

static void read_lines(struct message_reader *reader, size_t n)
{
	struct parser_lines lines = {};

	if (answers_read_lines(reader, n, 16, &lines) < 0)
		return;
	for (size_t i = 0; i < lines.n; i++)
		for (size_t j = lines.starts[i]; j < lines.starts[i + 1]; j++) {
			look_at(lines.frames[j].function);
			look_at(lines.frames[j].file);
		}
	free(lines.memory);
}

static void read_instructions(struct message_reader *reader)
{
	static const uint8_t code[64];
	const struct parser_piece pieces[PIECES] = {
		{ .code = code, .n = 64, .address = 0x1000, .max = 64 },
		{ .code = code, .n = 16, .address = 0x2000, .max = 2 },
		{ .code = code, .n = 1, .address = 0x3000, .max = SIZE_MAX },
	};
	struct parser_instructions instructions = {};

	if (answers_read_instructions(reader, pieces, PIECES, &instructions) < 0)
		return;
	for (size_t i = 0; i < instructions.n; i++)
		for (size_t j = instructions.starts[i]; j < instructions.starts[i + 1]; j++) {
			look_at(instructions.rows[j].text);
			sink += instructions.rows[j].address;
		}
	free(instructions.memory);
}

static void read_names(struct message_reader *reader, size_t n)
{
	char **names;

	if (answers_read_names(reader, n, &names) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		look_at(names[i]);
	free(names);
}

static void read_unwind(struct message_reader *reader)
{
	struct unwind_table table = {};
	uint64_t start, end;

	if (answers_read_unwind(reader, &table) < 0)
		return;
	for (uint64_t at = 0; at < 256; at++) {
		const struct unwind_rule *rule = unwind_table_find(&table, at);

		sink += rule ? rule->cfa : 0;
		sink += unwind_table_function(&table, at, &start, &end);
	}
	unwind_table_done(&table);
}

/* The first byte chooses the kind, the second the number of places; the parts are aligned. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct message_reader reader;
	uint8_t *copy;

	if (size < 8)
		return 0;
	copy = malloc(size - 8 ?: 1);
	if (!copy)
		return 0;
	memcpy(copy, data + 8, size - 8);
	reader = (struct message_reader){ copy, size - 8 };
	if (data[0] % 6 == 0)
		read_identity(&reader);
	else if (data[0] % 6 == 1)
		read_table(&reader, 4096);
	else if (data[0] % 6 == 2)
		read_lines(&reader, data[1]);
	else if (data[0] % 6 == 3)
		read_instructions(&reader);
	else if (data[0] % 6 == 4)
		read_unwind(&reader);
	else
		read_names(&reader, data[1]);
	free(copy);
	return 0;
}
