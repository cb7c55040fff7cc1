/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Decodes machine code that the client sends. */
#pragma once

#include "common/parser/message.h"

/*
 * Writes message_rows and what follows it. @code: of all pieces, one after the other. 0;
 * -EOPNOTSUPP for an unknown machine; -EINVAL for pieces that are not in @n_code; or -ENOMEM.
 */
int instructions_write(const struct message_disassemble *request,
		       const struct message_piece *pieces, const uint8_t *code, size_t n_code,
		       struct message_writer *answer);
