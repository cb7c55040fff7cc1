/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parser may be under foreign control. So nothing of an answer is used before it was checked:
 * each count against the bytes that are there, each offset of a string against the text, each
 * string for bytes that a terminal would obey.
 */
#include "common/parser/answers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"
#include "common/util/printable.h"

void answers_identity_done(struct parser_identity *identity)
{
	free(identity->loads.rows);
	free(identity->debuglink);
	*identity = (struct parser_identity){};
}

static int read_loads(struct message_reader *reader, size_t n, struct loads *ret)
{
	const struct message_load *loads = message_read(reader, n, sizeof(*loads));
	struct load *rows;

	if (!loads || n > MESSAGE_LOADS)
		return -EBADMSG;
	for (size_t i = 0; i < n; i++)
		if (loads[i].offset > UINT64_MAX - loads[i].size ||
		    loads[i].address > UINT64_MAX - loads[i].size)
			return -EBADMSG;
	if (ARRAY_ALLOCATE(&rows, n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		rows[i] = (struct load){
			.offset = loads[i].offset,
			.address = loads[i].address,
			.size = loads[i].size,
			.memory_size = loads[i].memory_size,
			.executable = loads[i].executable,
		};
	*ret = (struct loads){ .rows = rows, .n = n };
	return 0;
}

static int read_debuglink(struct message_reader *reader, size_t n, char **ret)
{
	const char *link = message_read(reader, n, 1);

	if (n == 0)
		return 0;
	if (!link || n > MESSAGE_LINK || strnlen(link, n) != n - 1 || n == 1 || strchr(link, '/'))
		return -EBADMSG;
	*ret = strdup(link);
	return *ret ? 0 : -ENOMEM;
}

int answers_read_identity(struct message_reader *reader, struct parser_identity *ret)
{
	const struct message_identity *m = message_read(reader, 1, sizeof(*m));
	struct parser_identity identity = {};
	int r;

	if (!m || m->n_build_id > PROFILE_BUILD_ID_MAX)
		return -EBADMSG;
	identity.machine = m->machine;
	identity.has_symtab = m->has_symtab;
	identity.has_dwarf = m->has_dwarf;
	identity.debuglink_crc = m->debuglink_crc;
	identity.n_malformed = m->n_malformed;
	identity.build_id.n = m->n_build_id;
	memcpy(identity.build_id.bytes, m->build_id, m->n_build_id);
	r = read_loads(reader, m->n_loads, &identity.loads);
	if (!r)
		r = read_debuglink(reader, m->n_debuglink, &identity.debuglink);
	if (r < 0) {
		answers_identity_done(&identity);
		return r;
	}
	*ret = identity;
	return 0;
}

/* @n_rows of @size bytes, followed by a text of @n_text bytes, in one block of memory. */
struct block {
	void *rows;
	const char *text;
	size_t n_text;
};

/* Copies the text to the end of a new block. */
static int make_block(struct message_reader *reader, size_t n_rows, size_t size, size_t n_text,
		      struct block *ret)
{
	const char *text = message_read(reader, n_text, 1);
	char *memory, *copy;

	if (!text || (n_text && text[n_text - 1]))
		return -EBADMSG;
	memory = malloc(n_rows * size + n_text + 1);
	if (!memory)
		return -ENOMEM;
	copy = memory + n_rows * size;
	memcpy(copy, text, n_text);
	for (size_t at = 0; at < n_text; at += strlen(copy + at) + 1)
		printable_make(copy + at);
	*ret = (struct block){ .rows = memory, .text = copy, .n_text = n_text };
	return 0;
}

/* False for an offset outside of the text. */
static bool get_text(const struct block *block, uint32_t at, const char **ret)
{
	if (at != MESSAGE_NO_TEXT && at >= block->n_text)
		return false;
	*ret = at == MESSAGE_NO_TEXT ? NULL : block->text + at;
	return true;
}

static bool read_range(const struct block *block, const struct message_range *m,
		       struct parser_range *ret)
{
	*ret = (struct parser_range){
		.first = m->first,
		.last = m->last,
		.start = m->start,
		.size = m->size,
		.fingerprint = m->fingerprint,
		.fingerprinted = m->fingerprinted,
	};
	if (!get_text(block, m->name, &ret->name) || m->first > m->last)
		return false;
	if (!ret->name)
		return true;
	/* names may lie over each other, so their sum says nothing about each */
	if (strnlen(ret->name, MESSAGE_NAME + 1) > MESSAGE_NAME)
		return false;
	return m->size && m->start <= UINT64_MAX - m->size && m->first >= m->start &&
	       m->last <= m->start + m->size - 1;
}

int answers_read_table(struct message_reader *reader, size_t n, struct parser_table *ret,
		       size_t *ret_code_bytes, size_t *ret_bytes)
{
	const struct message_table *m = message_read(reader, 1, sizeof(*m));
	const struct message_range *ranges;
	struct parser_range *rows;
	struct block block;
	int r;

	ranges = m ? message_read(reader, m->n_ranges, sizeof(*ranges)) : NULL;
	if (!ranges || m->n_ranges > n)
		return -EBADMSG;
	r = make_block(reader, m->n_ranges, sizeof(*rows), m->n_text, &block);
	if (r < 0)
		return r;
	rows = block.rows;
	for (size_t i = 0; i < m->n_ranges; i++) {
		if (!read_range(&block, &ranges[i], &rows[i])) {
			free(rows);
			return -EBADMSG;
		}
	}
	*ret = (struct parser_table){ .rows = rows, .n = m->n_ranges, .memory = rows };
	*ret_code_bytes = m->n_code_bytes;
	*ret_bytes = m->n_bytes;
	return 0;
}

/* The starts of @n places: ascending, and the last is @n_rows. */
static const uint32_t *read_starts(struct message_reader *reader, size_t n, size_t n_rows,
				   size_t max)
{
	const uint32_t *starts = message_read(reader, n + 1, sizeof(*starts));

	if (!starts || starts[0] || starts[n] != n_rows)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (starts[i] > starts[i + 1] || starts[i + 1] - starts[i] > max)
			return NULL;
	return starts;
}

static size_t *copy_starts(void *to, const uint32_t *starts, size_t n)
{
	size_t *copy = to;

	for (size_t i = 0; i <= n; i++)
		copy[i] = starts[i];
	return copy;
}

/* The rows of some places, and the memory for what is made of them. */
struct places {
	size_t n_rows;
	const uint32_t *starts;
	const void *from;
	struct block block;
};

/* Reads the rows of @n places, at most @max each, of @from_bytes, to become @to_bytes each. */
static int read_places(struct message_reader *reader, size_t n, size_t max, size_t from_bytes,
		       size_t to_bytes, struct places *ret)
{
	const struct message_rows *m = message_read(reader, 1, sizeof(*m));

	ret->starts = m ? read_starts(reader, n, m->n_rows, max) : NULL;
	ret->from = ret->starts ? message_read(reader, m->n_rows, from_bytes) : NULL;
	if (!ret->from)
		return -EBADMSG;
	ret->n_rows = m->n_rows;
	return make_block(reader, 1, m->n_rows * to_bytes + (n + 1) * sizeof(size_t), m->n_text,
			  &ret->block);
}

int answers_read_lines(struct message_reader *reader, size_t n, size_t max_frames,
		       struct parser_lines *ret)
{
	const struct message_frame *frames;
	struct source_frame *rows;
	struct places places;
	int r;

	r = read_places(reader, n, max_frames, sizeof(*frames), sizeof(*rows), &places);
	if (r < 0)
		return r;
	frames = places.from;
	rows = places.block.rows;
	for (size_t i = 0; i < places.n_rows; i++) {
		rows[i].line = frames[i].line;
		if (!get_text(&places.block, frames[i].function, &rows[i].function) ||
		    !get_text(&places.block, frames[i].file, &rows[i].file)) {
			free(rows);
			return -EBADMSG;
		}
	}
	*ret = (struct parser_lines){
		.starts = copy_starts(rows + places.n_rows, places.starts, n),
		.frames = rows,
		.n = n,
		.memory = rows,
	};
	return 0;
}

int answers_read_data(struct message_reader *reader, size_t n, struct parser_data *ret)
{
	const struct message_rows *m = message_read(reader, 1, sizeof(*m));
	const struct message_datum *data;
	struct parser_datum *rows;
	struct block block;
	int r;

	data = m && m->n_rows == n ? message_read(reader, n, sizeof(*data)) : NULL;
	if (!data)
		return -EBADMSG;
	r = make_block(reader, n, sizeof(*rows), m->n_text, &block);
	if (r < 0)
		return r;
	rows = block.rows;
	for (size_t i = 0; i < n; i++) {
		rows[i] = (struct parser_datum){
			.offset = data[i].offset,
			.is_slot = data[i].is_slot,
		};
		if (!get_text(&block, data[i].name, &rows[i].name)) {
			free(rows);
			return -EBADMSG;
		}
	}
	*ret = (struct parser_data){ .rows = rows, .n = n, .memory = rows };
	return 0;
}

/* The instructions of one piece; their addresses follow from their sizes. */
static bool read_piece(const struct block *block, const struct parser_piece *piece,
		       const struct message_instruction *from, struct instruction *to, size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		const struct message_instruction *m = &from[i];

		to[i] = (struct instruction){
			.address = piece->address + at,
			.size = m->size,
			.kind = m->kind,
			.target = m->target,
			.has_target = m->has_target,
			.is_data = m->is_data,
		};
		memcpy(to[i].fixed, m->fixed, sizeof(to[i].fixed));
		if (!get_text(block, m->text, &to[i].text) || !to[i].text ||
		    m->kind >= N_BRANCH_KINDS || m->size == 0 || m->size > INSTRUCTION_MAX ||
		    m->size > piece->n - at)
			return false;
		at += m->size;
	}
	return true;
}

int answers_read_instructions(struct message_reader *reader, const struct parser_piece *pieces,
			      size_t n, struct parser_instructions *ret)
{
	const struct message_instruction *from;
	struct instruction *rows;
	struct places places;
	int r;

	r = read_places(reader, n, SIZE_MAX, sizeof(*from), sizeof(*rows), &places);
	if (r < 0)
		return r;
	from = places.from;
	rows = places.block.rows;
	for (size_t i = 0; i < n; i++) {
		size_t first = places.starts[i];

		if (!read_piece(&places.block, &pieces[i], from + first, rows + first,
				places.starts[i + 1] - first)) {
			free(rows);
			return -EBADMSG;
		}
	}
	*ret = (struct parser_instructions){
		.starts = copy_starts(rows + places.n_rows, places.starts, n),
		.rows = rows,
		.n = n,
		.memory = rows,
	};
	return 0;
}

int answers_read_unwind(struct message_reader *reader, struct unwind_table *ret)
{
	const struct message_unwind_table *m = message_read(reader, 1, sizeof(*m));
	struct unwind_table table = {};

	if (!m || m->n_rows > MESSAGE_UNWIND || m->n_rules > UNWIND_MAX_RULES)
		return -EBADMSG;
	table.machine = m->machine;
	table.n_rules = m->n_rules;
	table.n_rows = m->n_rows;
	table.n_bytes = m->n_bytes;
	table.rules = message_read(reader, m->n_rules, sizeof(*table.rules));
	table.parts = message_read(reader, unwind_table_n_parts(m->n_rows), sizeof(*table.parts));
	table.bytes = message_read(reader, m->n_bytes, 1);
	if (!table.rules || !table.parts || !table.bytes || !unwind_table_is_valid(&table))
		return -EBADMSG;
	return unwind_table_copy(ret, &table);
}

int answers_read_names(struct message_reader *reader, size_t n, char ***ret)
{
	const struct message_names *m = message_read(reader, 1, sizeof(*m));
	struct block block;
	char **names, *at;
	size_t found = 0;
	int r;

	if (!m || m->n != n)
		return -EBADMSG;
	r = make_block(reader, n, sizeof(*names), m->n_text, &block);
	if (r < 0)
		return r;
	names = block.rows;
	at = (char *)(names + n);
	while (found < n && at < block.text + block.n_text) {
		names[found++] = at;
		at += strlen(at) + 1;
	}
	if (found < n) {
		free(names);
		return -EBADMSG;
	}
	*ret = names;
	return 0;
}
