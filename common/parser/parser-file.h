/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file of a parser, for the files that implement parser.h. */
#pragma once

#include "common/parser/ask.h"
#include "common/parser/parser.h"

struct parser_file {
	struct parser *parser;
	struct parser_identity identity;
	uint32_t owner, number;
	enum message_content content;
	uint64_t generation; /* of the connection that has it open */
	int fd, debug_fd;    /* debug_fd: -1 if there is none */
	bool linked;
	size_t bytes;
	bool failed;
	struct fault failure;
};

/* As parser_ask(), of the parser that has the file open. 0; the errors of parser.h; or @refusal,
 * the parser's own result that is no failure. */
int parser_file_ask(struct parser_file *file, uint32_t type, const struct message_writer *request,
		    int fd, int refusal, struct answer *ret, struct fault *why);

/* As parser_end_answer(); a wrong answer is a failure of the file. */
int parser_file_end_answer(struct parser_file *file, struct answer *answer, int r,
			   struct fault *why);
