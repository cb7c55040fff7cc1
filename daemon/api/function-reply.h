/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The reply of GetFunctions. Each part of the time is written as soon as it is complete, so that
 * only one part's counts are held, whatever the number of windows; by program, when all are.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/util/macro.h"
#include "daemon/api/reply-text.h"
#include "daemon/rows/function-sum.h"
#include "daemon/rows/programs.h"

struct function_reply {
	struct function_sum *sum;
	struct program_sum *programs; /* its parts are written at the end; NULL: at once */
	struct reply_text text;       /* so far */
	size_t n_parts;               /* complete ones */
	size_t n_left_out;            /* rows, where a number of them was asked for */
};

/* 0 or -ENOMEM. */
int function_reply_new(struct function_reply **ret, enum function_sum_kind by, bool by_program);
struct function_reply *function_reply_free(struct function_reply *reply);
DEFINE_CLEANUP(struct function_reply *, function_reply_free);

/*
 * What is added to the sum next belongs to another part. 0, -EMSGSIZE once the reply is too long,
 * or -ENOMEM.
 */
int function_reply_end_part(struct function_reply *reply);

/*
 * Writes what follows the parts, of the finished sum: the text is {"parts":[...],"places":[...],
 * "profile":{...} then, for the caller to continue and to end. 0, or -errno as
 * profile_json_write().
 */
int function_reply_write_json(struct function_reply *reply);
