/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a query answers, once all of its windows are read. */
#pragma once

#include "daemon/api/query-state.h"

/* Finishes the sum, and writes the reply: bytes and n_bytes. 0 or -errno. */
int query_answer_write(struct query *q);
