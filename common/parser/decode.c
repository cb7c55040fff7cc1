/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The calls of parser.h that are about no file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/parser/answers.h"
#include "common/parser/ask.h"
#include "common/parser/parser.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

#define ROOT 0

void parser_instructions_done(struct parser_instructions *instructions)
{
	free(instructions->memory);
	*instructions = (struct parser_instructions){};
}

static void write_pieces(struct message_writer *request, const struct parser_decoding *d)
{
	size_t n_bytes = 0, at;

	at = message_reserve(request, d->n * sizeof(struct message_piece));
	for (size_t i = 0; i < d->n && request->r >= 0; i++) {
		struct message_piece *m = (struct message_piece *)(request->bytes + at) + i;

		if (d->pieces[i].n > MESSAGE_CODE - n_bytes) {
			request->r = -EMSGSIZE;
			break;
		}
		*m = (struct message_piece){
			.address = d->pieces[i].address,
			.n = (uint32_t)d->pieces[i].n,
			.max = (uint32_t)MIN(d->pieces[i].max, (size_t)MESSAGE_INSTRUCTIONS),
		};
		n_bytes += m->n;
	}
	at = message_reserve(request, n_bytes);
	for (size_t i = 0; i < d->n && request->r >= 0; i++) {
		memcpy(request->bytes + at, d->pieces[i].code, d->pieces[i].n);
		at += d->pieces[i].n;
	}
}

/* Asks about no file. */
static int ask_alone(struct parser *parser, uint32_t owner, uint32_t type,
		     const struct message_writer *request, struct answer *ret, struct fault *why)
{
	struct connection *connection;
	int r = connections_get(&parser->connections, owner, &connection, why);

	if (!r)
		r = parser_ask(parser, connection, type, request, -1, ret, why);
	if (r != -EOVERFLOW)
		return r == -EOWNERDEAD ? -EREMOTEIO : r;
	connections_give_up(&parser->connections, connection);
	return fault_set(why, -EREMOTEIO, "its parser lacks memory");
}

int parser_disassemble(struct parser *parser, const struct parser_decoding *d,
		       struct parser_instructions *ret, struct fault *why)
{
	const struct message_disassemble m = {
		.machine = d->machine,
		.att = d->att,
		.n_pieces = (uint32_t)d->n,
		.cpu_us = parser->cpu_us,
		.low = d->low,
		.high = d->high,
	};
	_cleanup_(message_writer_done) struct message_writer request = {};
	struct answer answer;
	int r;

	message_write(&request, &m, sizeof(m));
	write_pieces(&request, d);
	r = ask_alone(parser, d->owner, PARSER_DISASSEMBLE, &request, &answer, why);
	if (r < 0)
		return r;
	r = answers_read_instructions(&answer.reader, d->pieces, d->n, ret);
	return parser_end_answer(parser, &answer, r, why);
}

int parser_demangle(struct parser *parser, const char *const *names, size_t n, char ***ret,
		    struct fault *why)
{
	_cleanup_(message_writer_done) struct message_writer request = {};
	struct message_names m = { .n = (uint32_t)n, .cpu_us = parser->cpu_us };
	struct message_text text = {};
	struct answer answer;
	int r = 0;

	for (size_t i = 0; i < n && !r; i++) {
		uint32_t at;

		r = message_text_add(&text, names[i], &at);
		if (!r && at == MESSAGE_NO_TEXT)
			r = -EMSGSIZE;
	}
	m.n_text = (uint32_t)text.n;
	message_write(&request, &m, sizeof(m));
	message_write(&request, text.text, text.n);
	free(text.text);
	if (!r)
		r = ask_alone(parser, ROOT, PARSER_DEMANGLE, &request, &answer, why);
	if (r < 0)
		return r;
	r = answers_read_names(&answer.reader, n, ret);
	return parser_end_answer(parser, &answer, r, why);
}
