/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is asked of a file that is open. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/parser/answers.h"
#include "common/parser/parser-file.h"

/* About @n offsets or addresses, at most MESSAGE_OFFSETS; a head of the message is before them. */
struct question {
	uint32_t type;
	const void *head;
	size_t n_head;
	const uint64_t *offsets;
	size_t n;
};

/* As parser_file_ask(). */
static int ask_about(struct parser_file *file, const struct question *question, struct answer *ret,
		     struct fault *why)
{
	_cleanup_(message_writer_done) struct message_writer request = {};

	if (question->n > MESSAGE_OFFSETS)
		return -EMSGSIZE;
	message_write(&request, question->head, question->n_head);
	message_write(&request, question->offsets, question->n * sizeof(*question->offsets));
	return parser_file_ask(file, question->type, &request, -1, 0, ret, why);
}

void parser_table_done(struct parser_table *table)
{
	free(table->memory);
	*table = (struct parser_table){};
}

int parser_file_resolve(struct parser_file *file, const uint64_t *offsets, size_t n,
			size_t max_code_bytes, struct parser_table *ret, size_t *ret_code_bytes,
			struct fault *why)
{
	const struct message_resolve m = {
		.file = file->number,
		.n = (uint32_t)n,
		.max_code_bytes = max_code_bytes,
	};
	const struct question question = { PARSER_RESOLVE, &m, sizeof(m), offsets, n };
	struct answer answer;
	size_t n_code = 0;
	int r;

	r = ask_about(file, &question, &answer, why);
	if (r < 0)
		return r;
	r = answers_read_table(&answer.reader, n, ret, &n_code, &file->bytes);
	if (!r && ret_code_bytes)
		*ret_code_bytes = n_code;
	return parser_file_end_answer(file, &answer, r, why);
}

void parser_lines_done(struct parser_lines *lines)
{
	free(lines->memory);
	*lines = (struct parser_lines){};
}

int parser_file_lines(struct parser_file *file, const uint64_t *offsets, size_t n,
		      size_t max_frames, struct parser_lines *ret, struct fault *why)
{
	const struct message_lines m = {
		.file = file->number,
		.n = (uint32_t)n,
		.max_frames = (uint32_t)MIN(max_frames, (size_t)MESSAGE_FRAMES),
	};
	const struct question question = { PARSER_LINES, &m, sizeof(m), offsets, n };
	struct answer answer;
	int r;

	r = ask_about(file, &question, &answer, why);
	if (r < 0)
		return r;
	r = answers_read_lines(&answer.reader, n, m.max_frames, ret);
	return parser_file_end_answer(file, &answer, r, why);
}

void parser_data_done(struct parser_data *data)
{
	free(data->memory);
	*data = (struct parser_data){};
}

int parser_file_data(struct parser_file *file, const uint64_t *addresses, size_t n,
		     struct parser_data *ret, struct fault *why)
{
	const struct message_data m = { .file = file->number, .n = (uint32_t)n };
	const struct question question = { PARSER_DATA, &m, sizeof(m), addresses, n };
	struct answer answer;
	int r;

	r = ask_about(file, &question, &answer, why);
	if (r < 0)
		return r;
	return parser_file_end_answer(file, &answer, answers_read_data(&answer.reader, n, ret),
				      why);
}

int parser_file_unwind(struct parser_file *file, struct unwind_table *ret, struct fault *why)
{
	const struct message_unwind m = { .file = file->number, .cpu_us = file->parser->cpu_us };
	_cleanup_(message_writer_done) struct message_writer request = {};
	struct answer answer;
	int r;

	message_write(&request, &m, sizeof(m));
	r = parser_file_ask(file, PARSER_UNWIND, &request, -1, -ETIME, &answer, why);
	if (r < 0)
		return r;
	return parser_file_end_answer(file, &answer, answers_read_unwind(&answer.reader, ret), why);
}

int parser_file_code(struct parser_file *file, uint64_t offset, void *ret, size_t n,
		     struct fault *why)
{
	const struct message_code m = {
		.file = file->number,
		.n = (uint32_t)MIN(n, (size_t)MESSAGE_CODE),
		.offset = offset,
	};
	_cleanup_(message_writer_done) struct message_writer request = {};
	const struct message_names *head;
	const void *bytes = NULL;
	struct answer answer;
	size_t n_read = 0;
	int r;

	message_write(&request, &m, sizeof(m));
	r = parser_file_ask(file, PARSER_CODE, &request, -1, 0, &answer, why);
	if (r < 0)
		return r;
	head = message_read(&answer.reader, 1, sizeof(*head));
	if (head && head->n <= m.n) {
		n_read = head->n;
		bytes = message_read(&answer.reader, n_read, 1);
	}
	if (bytes)
		memcpy(ret, bytes, n_read);
	r = parser_file_end_answer(file, &answer, bytes ? 0 : -EBADMSG, why);
	return r < 0 ? r : (int)n_read;
}
