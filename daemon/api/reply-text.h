/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text of a long reply, written up to a limit: above it writing fails, and too_long says why.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define REPLY_MAX_BYTES      (128u << 20)
#define REPLY_MAX_USER_BYTES (30u << 20) /* to an unprivileged caller */

struct reply_text {
	FILE *f; /* to write to */
	char *bytes;
	size_t n, cap, max;
	bool too_long;
};

/* 0 or -ENOMEM. It may not move while it is open. */
int reply_text_open(struct reply_text *text, size_t max);
void reply_text_done(struct reply_text *text);

/*
 * Ends writing: 0 and *@ret, the caller's, of *@ret_n bytes without a NUL; -EMSGSIZE if it was
 * longer than allowed; -ENOMEM.
 */
int reply_text_finish(struct reply_text *text, char **ret, size_t *ret_n);
