/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Window references: words of the command line that select windows. Parsing needs no daemon;
 * branchctl(1) describes the forms.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/rpc/windows.h"
#include "client/source/time-spec.h"
#include "common/util/fault.h"

enum window_bound_kind {
	BOUND_NONE,   /* of a range: unlimited */
	BOUND_ID,     /* "42" */
	BOUND_RECENT, /* "@-1": @number is the distance from the open window */
	BOUND_TIME,
	BOUND_NAME, /* any other word: a mark */
};

struct window_bound {
	enum window_bound_kind kind;
	uint64_t number;
	struct time_spec time;
	char name[WINDOWS_MARK_NAME_MAX + 1]; /* of a mark; of a longer word, its beginning */
};

enum window_ref_kind {
	WINDOW_REF_RECENT,    /* no word: the last five minutes */
	WINDOW_REF_RECORDING, /* the path of a file */
	WINDOW_REF_WINDOW,    /* @first: one window, or those of a span of time */
	WINDOW_REF_RANGE,     /* from @first to @last */
};

struct window_ref {
	enum window_ref_kind kind;
	const char *text; /* the word, or NULL; borrowed */
	uint64_t now_us;  /* CLOCK_REALTIME, for relative times */
	struct window_bound first, last;
};

/* -EINVAL and @fault if @text (or NULL) is not a window reference. @now_us: CLOCK_REALTIME. */
int window_ref_parse(struct window_ref *ret, const char *text, uint64_t now_us,
		     struct fault *fault);

/* The windows that overlap [@since_us, @until_us), as --since and --until say; 0: no bound. */
void window_ref_of_span(struct window_ref *ret, uint64_t since_us, uint64_t until_us,
			uint64_t now_us);

/*
 * True if @word, which may be a symbol as well, is a window reference: a file that exists, a word
 * like one, a number, or a time. A name is a symbol.
 */
bool window_ref_is_likely(const char *word);

/*
 * Selects *@ret_n of @windows, at least 1, from number *@ret_first on. In place of a window that
 * was merged into another it selects that. -ENOENT and @fault, which says what windows or marks
 * exist, if none match.
 */
int window_ref_resolve(const struct window_ref *ref, const struct windows *windows,
		       size_t *ret_first, size_t *ret_n, struct fault *fault);

/*
 * Whether @window stands in for the one whose id @bound is: of a reference, @first and the first
 * window that it selects, or @last and the last.
 */
bool window_ref_is_merged(const struct window_bound *bound, const struct window_info *window);

/*
 * Limits on the windows that match: those that overlap [*@ret_since, *@ret_until), in microseconds,
 * and of them the *@ret_n_newest newest. 0, UINT64_MAX and 0 mean no limit.
 */
void window_ref_span(const struct window_ref *ref, uint64_t *ret_since, uint64_t *ret_until,
		     uint64_t *ret_n_newest);
