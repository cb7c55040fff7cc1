/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks the parts of a parser's answers, and copies them into what the callers get. All of them
 * return 0; -EBADMSG for a part with the wrong shape; or -ENOMEM.
 */
#pragma once

#include "common/parser/message.h"
#include "common/parser/results.h"
#include "common/unwind/table.h"

int answers_read_identity(struct message_reader *reader, struct parser_identity *ret);
void answers_identity_done(struct parser_identity *identity);

/* Of @n offsets. */
int answers_read_table(struct message_reader *reader, size_t n, struct parser_table *ret,
		       size_t *ret_code_bytes, size_t *ret_bytes);

/* Of @n places with at most @max_frames each. */
int answers_read_lines(struct message_reader *reader, size_t n, size_t max_frames,
		       struct parser_lines *ret);

/* Of @n addresses. */
int answers_read_data(struct message_reader *reader, size_t n, struct parser_data *ret);

int answers_read_instructions(struct message_reader *reader, const struct parser_piece *pieces,
			      size_t n, struct parser_instructions *ret);

/* Checked by unwind_table_is_valid(). */
int answers_read_unwind(struct message_reader *reader, struct unwind_table *ret);

/* An array of @n strings in one block of memory. */
int answers_read_names(struct message_reader *reader, size_t n, char ***ret);
