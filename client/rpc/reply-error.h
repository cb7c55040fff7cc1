/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The daemon's errors in words. */
#pragma once

#include <stdbool.h>

#include "client/rpc/connection.h"
#include "common/util/fault.h"

/* Whether the error of the answer is io.branchd.@name, a denied permission, a parameter that the
 * daemon does not know. */
bool reply_error_is(const struct answer *answer, const char *name);
bool reply_error_is_denied(const struct answer *answer);
bool reply_error_is_refused(const struct answer *answer);

/* Explains @r, what connection_call() returned. Other errors keep the text of the connection. */
int reply_error_explain(const struct answer *answer, int r, struct fault *fault);
/* The same of calls about marks; a daemon that is too old knows none. */
int reply_error_explain_mark(const struct answer *answer, int r, struct fault *fault);

/* -EBADMSG: the reply is not as it should be. */
int reply_error_unreadable(struct fault *fault, const char *what);
