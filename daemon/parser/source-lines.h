/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers which source lines are at the offsets of a file. */
#pragma once

#include "common/parser/message.h"
#include "daemon/parser/files.h"

/* Writes message_rows and what follows it. 0 or -ENOMEM. */
int source_lines_write(struct file *file, const uint64_t *offsets, size_t n, size_t max_frames,
		       struct message_writer *answer);
