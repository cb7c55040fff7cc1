/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Window references: what a word of the command line says of the windows it means, and which of
 * those there are these are.
 *
 * Reading the word needs no daemon; the forms are told in branchctl(1).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "client/moment.h"
#include "client/windows.h"
#include "common/util/fault.h"

enum bound_kind {
	BOUND_NONE,   /* of a range: the end of the line */
	BOUND_ID,     /* "42" */
	BOUND_RECENT, /* "@-1": @number is how many back from the one that is open */
	BOUND_MOMENT,
	BOUND_NAME, /* any other word: a mark */
};

struct bound {
	enum bound_kind kind;
	uint64_t number;
	struct moment moment;
};

enum reference_kind {
	REFERENCE_LATEST,    /* no word: the last five minutes */
	REFERENCE_RECORDING, /* a file's path */
	REFERENCE_WINDOW,    /* one, of @first */
	REFERENCE_RANGE,     /* from @first to @last */
};

struct reference {
	enum reference_kind kind;
	const char *text; /* the word, NULL where there is none; borrowed */
	uint64_t now_us;  /* what its moments were reckoned from */
	struct bound first, last;
};

/* -EINVAL and @fault where @text (or NULL) is no reference. @now_us is the time now, CLOCK_REALTIME. */
int reference_parse(struct reference *ret, const char *text, uint64_t now_us, struct fault *fault);

/*
 * The windows it means: *@ret_first is the number of the first in @windows, *@ret_n how many they
 * are, at least 1. -ENOENT and @fault, which names the windows there are, where there are none.
 */
int reference_resolve(const struct reference *reference, const struct windows *windows,
		      size_t *ret_first, size_t *ret_n, struct fault *fault);

/*
 * Outside of the span [*@ret_since, *@ret_until), in microseconds, nothing is meant; nor but the
 * *@ret_latest newest windows. 0, UINT64_MAX and 0 where only the list of all windows can tell.
 */
void reference_span(const struct reference *reference, uint64_t *ret_since, uint64_t *ret_until,
		    uint64_t *ret_latest);
