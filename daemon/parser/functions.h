/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers which functions are at the offsets of a file, with their fingerprints. */
#pragma once

#include "common/parser/message.h"
#include "daemon/parser/files.h"

/* Writes message_table and what follows it. @offsets are sorted by it. 0 or -ENOMEM. */
int functions_write(struct file *file, uint64_t *offsets, size_t n, uint64_t max_code_bytes,
		    struct message_writer *answer);
