/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Marks: ListMarks, AddMark and DeleteMark. Everybody sees the names; only privileged callers, who
 * see all processes, give and remove them, as marks take room from the windows of all.
 */
#pragma once

#include <stdio.h>

#include "daemon/store/store.h"
#include "daemon/varlink/call.h"

/* Writes "marks":[...]. 0 or -errno; of a damaged database -EBADMSG and @fault. */
int mark_reply_write_list(struct store *store, FILE *f, struct fault *fault);

/* Each replies, or returns -errno. */
int mark_reply_list(struct call *call, struct store *store);
int mark_reply_add(struct call *call, struct store *store);
int mark_reply_delete(struct call *call, struct store *store);
