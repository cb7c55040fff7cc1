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

#include "client/rpc/windows.h"
#include "client/source/time-spec.h"
#include "common/util/fault.h"

enum bound_kind {
	BOUND_NONE,   /* of a range: the end of the line */
	BOUND_ID,     /* "42" */
	BOUND_RECENT, /* "@-1": @number is how many back from the one that is open */
	BOUND_TIME,
	BOUND_NAME, /* any other word: a mark */
};

struct bound {
	enum bound_kind kind;
	uint64_t number;
	struct time_spec time;
};

enum window_ref_kind {
	WINDOW_REF_RECENT,    /* no word: the last five minutes */
	WINDOW_REF_RECORDING, /* a file's path */
	WINDOW_REF_WINDOW,    /* one, of @first */
	WINDOW_REF_RANGE,     /* from @first to @last */
};

struct window_ref {
	enum window_ref_kind kind;
	const char *text; /* the word, NULL where there is none; borrowed */
	uint64_t now_us;  /* what its moments were reckoned from */
	struct bound first, last;
};

/* -EINVAL and @fault where @text (or NULL) is no ref. @now_us is the time now,
 * CLOCK_REALTIME. */
int window_ref_parse(struct window_ref *ret, const char *text, uint64_t now_us,
		     struct fault *fault);

/*
 * The windows it means: *@ret_first is the number of the first in @windows, *@ret_n how many they
 * are, at least 1. -ENOENT and @fault, which names the windows there are, where there are none.
 */
int window_ref_resolve(const struct window_ref *ref, const struct windows *windows,
		       size_t *ret_first, size_t *ret_n, struct fault *fault);

/*
 * Outside of the span [*@ret_since, *@ret_until), in microseconds, nothing is meant; nor but the
 * *@ret_n_newest newest windows. 0, UINT64_MAX and 0 where only the list of all windows can tell.
 */
void window_ref_span(const struct window_ref *ref, uint64_t *ret_since, uint64_t *ret_until,
		     uint64_t *ret_n_newest);
