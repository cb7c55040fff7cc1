/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The errors of io.branchd. Each is the last reply of its call. */
#pragma once

#include "daemon/archive/archive.h"
#include "daemon/varlink/call.h"

/* Says which windows there are. */
void error_reply_no_such_window(struct call *call, struct archive *archive);
void error_reply_not_sampling(struct call *call);
void error_reply_no_such_code(struct call *call);

/* TooLarge, TooExpensive, DatabaseDamaged (-EBADMSG) or InternalError, by the negative errno @r. */
void error_reply(struct call *call, int r, const struct fault *fault);
