/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers PARSER_UNWIND. */
#pragma once

#include "common/parser/message.h"
#include "daemon/parser/files.h"

/* The unwind table of @file. 0, -ETIME or -ENOMEM. */
int unwind_write(struct file *file, struct message_writer *answer);
