/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers what is at the addresses that the code of a file refers to. */
#pragma once

#include "common/parser/message.h"
#include "daemon/parser/files.h"

/* Writes message_rows and what follows it. 0 or -ENOMEM. */
int data_write(struct file *file, const uint64_t *addresses, size_t n,
	       struct message_writer *answer);
