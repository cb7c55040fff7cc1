/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A range goes from the first window that overlaps the time from its start on to the last that
 * overlaps the time before its end: 10:00..10:10 is sixty windows of ten seconds, not sixty-one.
 *
 * The daemon counts ids up by one, and merges windows that have aged into the first of them. So an
 * id that is missing between two windows is part of the one before.
 */
#include "client/source/window-ref.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/source/mark-ref.h"
#include "common/util/cleanup.h"

#define US        1000000ull
#define RECENT_US (5 * 60 * US)

/* "2026-11-20 10:00 Europe/Berlin" is a time, or the start of a range. */
static bool begins_with_time(const char *text, uint64_t now_us)
{
	const char *dots = strstr(text, "..");
	char first[64];
	struct time_spec spec;

	snprintf(first, sizeof(first), "%.*s", dots ? (int)MIN(dots - text, 63) : 63, text);
	return time_spec_parse(&spec, first, now_us) >= 0;
}

static bool is_recording(const char *text, uint64_t now_us)
{
	size_t n = strlen(text);

	if (strchr(text, '/'))
		return !begins_with_time(text, now_us);
	return n >= 5 && strcmp(text + n - 5, ".data") == 0;
}

/* All of @text as a number. */
static bool read_number(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	return isdigit((unsigned char)*text) && *end == '\0' && errno == 0 && *ret <= INT64_MAX;
}

static bool parse_recent(struct window_bound *ret, const char *text)
{
	bool back = *text == '-';

	ret->kind = BOUND_RECENT;
	return read_number(text + back, &ret->number) && (back || ret->number == 0);
}

static int parse_bound(struct window_bound *ret, const char *text, uint64_t now_us,
		       struct fault *fault)
{
	*ret = (struct window_bound){ .kind = BOUND_NONE };
	if (*text == '\0')
		return 0;
	ret->kind = BOUND_TIME;
	if (time_spec_parse(&ret->time, text, now_us) >= 0)
		return 0;
	if (*text == '@')
		return parse_recent(ret, text + 1) ?
			       0 :
			       fault_set(
				       fault, -EINVAL,
				       "'%s' is not a window: give @0 for the open window, @-1 for "
				       "the last closed one, and so on",
				       text);
	ret->kind = BOUND_ID;
	if (read_number(text, &ret->number))
		return 0;
	if (time_spec_is_likely(text))
		return fault_set(
			fault, -EINVAL,
			"'%s' is not a time: give one such as -5min, 10:00, yesterday-10:00 or "
			"'2026-11-20 10:00'",
			text);
	ret->kind = BOUND_NAME;
	snprintf(ret->name, sizeof(ret->name), "%s", text);
	return 0;
}

/*
 * The end of a range, if it is only a time of day, is on the day of the start, in its zone, or on
 * the next day if it were before the start otherwise.
 */
static void date_last(struct window_ref *ref)
{
	const struct time_spec *first = &ref->first.time;
	struct time_spec *last = &ref->last.time;

	if (ref->first.kind != BOUND_TIME || ref->last.kind != BOUND_TIME || first->is_absolute ||
	    last->is_absolute || last->has_date)
		return;
	last->day = first->day + (last->clock_us < first->clock_us);
	last->has_date = true;
	if (last->zone.kind == TIME_ZONE_LOCAL)
		last->zone = first->zone;
}

/* Where a range ends: with the day that it names, but at the time of day that it names. */
static uint64_t range_end_us(const struct time_spec *last)
{
	return last->is_day ? time_spec_end_us(last) : time_spec_us(last, true);
}

static int check_order(const struct window_ref *ref, struct fault *fault)
{
	const struct window_bound *first = &ref->first, *last = &ref->last;
	bool wrong = false;

	if (first->kind != last->kind)
		return 0;
	if (first->kind == BOUND_ID)
		wrong = first->number > last->number;
	else if (first->kind == BOUND_RECENT)
		wrong = first->number < last->number;
	else if (first->kind == BOUND_TIME)
		wrong = time_spec_us(&first->time, false) >= range_end_us(&last->time);
	return wrong ? fault_set(fault, -EINVAL,
				 "'%s' ends before it begins: give the earlier end first",
				 ref->text) :
		       0;
}

static int parse_range(struct window_ref *ret, const char *dots, struct fault *fault)
{
	_cleanup_free_ char *first = strndup(ret->text, (size_t)(dots - ret->text));
	int r;

	if (!first)
		return fault_set(fault, -ENOMEM, "out of memory");
	ret->kind = WINDOW_REF_RANGE;
	r = parse_bound(&ret->first, first, ret->now_us, fault);
	if (r < 0)
		return r;
	r = parse_bound(&ret->last, dots + 2, ret->now_us, fault);
	if (r < 0)
		return r;
	date_last(ret);
	return check_order(ret, fault);
}

int window_ref_parse(struct window_ref *ret, const char *text, uint64_t now_us, struct fault *fault)
{
	const char *dots;

	*ret = (struct window_ref){ .text = text, .now_us = now_us };
	if (!text) {
		ret->kind = WINDOW_REF_RECENT;
		return 0;
	}
	if (*text == '\0')
		return fault_set(fault, -EINVAL,
				 "an empty word is not a window: see branchctl windows");
	if (is_recording(text, now_us)) {
		ret->kind = WINDOW_REF_RECORDING;
		return 0;
	}
	dots = strstr(text, "..");
	if (dots)
		return parse_range(ret, dots, fault);
	ret->kind = WINDOW_REF_WINDOW;
	return parse_bound(&ret->first, text, now_us, fault);
}

static struct window_bound bound_at(uint64_t us)
{
	return us == 0 ? (struct window_bound){ .kind = BOUND_NONE } :
			 (struct window_bound){ .kind = BOUND_TIME,
						.time = { .is_absolute = true, .us = us } };
}

void window_ref_of_span(struct window_ref *ret, uint64_t since_us, uint64_t until_us,
			uint64_t now_us)
{
	*ret = (struct window_ref){
		.kind = WINDOW_REF_RANGE,
		.text = "--since ... --until",
		.now_us = now_us,
		.first = bound_at(since_us),
		.last = bound_at(until_us),
	};
}

/* Names of Go and of operators contain a slash, too; OBJECT:0xADDRESS is a piece of code. */
bool window_ref_is_likely(const char *word)
{
	size_t n = strlen(word);
	struct time_spec time;

	if (strstr(word, ":0x"))
		return false;
	if (strchr("@-./", *word) || isdigit((unsigned char)*word) ||
	    time_spec_parse(&time, word, UINT64_MAX / 4) >= 0)
		return true;
	return (n > 5 && strcmp(word + n - 5, ".data") == 0) ||
	       (strchr(word, '/') && access(word, F_OK) == 0);
}

void window_ref_span(const struct window_ref *ref, uint64_t *ret_since, uint64_t *ret_until,
		     uint64_t *ret_n_newest)
{
	const struct window_bound *first = &ref->first, *last = &ref->last;

	*ret_since = 0;
	*ret_until = UINT64_MAX;
	*ret_n_newest = 0;
	if (ref->kind == WINDOW_REF_RECENT) {
		*ret_since = ref->now_us > RECENT_US ? ref->now_us - RECENT_US : 0;
	} else if (ref->kind == WINDOW_REF_WINDOW && first->kind == BOUND_TIME) {
		*ret_since = time_spec_us(&first->time, false);
		*ret_until = time_spec_end_us(&first->time);
	} else if (ref->kind == WINDOW_REF_WINDOW && first->kind == BOUND_RECENT) {
		/* the open window may be one of them */
		*ret_n_newest = MIN(first->number, (uint64_t)INT32_MAX) + 1;
	} else if (ref->kind == WINDOW_REF_RANGE) {
		if (first->kind == BOUND_TIME)
			*ret_since = time_spec_us(&first->time, false);
		if (last->kind == BOUND_TIME)
			*ret_until = range_end_us(&last->time);
	}
}

/* "there are 812, ids 1 to 813, from 2026-11-20 10:00:00 to ..." */
static void describe(const struct window_ref *ref, const struct windows *windows, struct fault *ret)
{
	size_t n = windows_n_closed(windows);
	char start[TIME_SPEC_TEXT_MAX], end[TIME_SPEC_TEXT_MAX];
	const struct window_info *first, *last;

	if (n == 0) {
		fault_set(ret, 0,
			  "there are none yet%s; branchctl status says whether branchd is sampling",
			  windows->n > 0 ? " except @0, the open one" : "");
		return;
	}
	first = &windows->rows[0];
	last = &windows->rows[n - 1];
	time_spec_format(start, first->start_us, ref->now_us);
	time_spec_format(end, windows_end_us(last), ref->now_us);
	if (n == 1) {
		fault_set(ret, 0, "the only one is %" PRId64 ", from %s to %s", first->id, start,
			  end);
		return;
	}
	fault_set(ret, 0,
		  "there are %zu, ids %" PRId64 " to %" PRId64 ", from %s to %s%s; "
		  "branchctl windows lists them",
		  n, first->id, last->id, start, end,
		  first->id > 1 ? " (older ones were removed)" : "");
}

static int not_found(const struct window_ref *ref, const struct windows *windows,
		     struct fault *fault, const char *what)
{
	struct fault list;

	describe(ref, windows, &list);
	return fault_set(fault, -ENOENT, "%s '%s': %s", what, ref->text, list.text);
}

/* The index of the window with that id, or of the next window, or the number of windows. */
static size_t find_id(const struct windows *windows, uint64_t id)
{
	size_t n = windows_n_closed(windows), i = 0;

	while (i < n && (uint64_t)windows->rows[i].id < id)
		i++;
	return i;
}

/* The same of the window with that id, or of the one that it was merged into; false: none. */
static bool find_holder(const struct windows *windows, uint64_t id, size_t *ret)
{
	size_t at = find_id(windows, id);

	if (at == windows_n_closed(windows))
		return false;
	if ((uint64_t)windows->rows[at].id != id &&
	    (at == 0 || mark_ref_is_before_removed(windows, at - 1)))
		return false;
	*ret = (uint64_t)windows->rows[at].id == id ? at : at - 1;
	return true;
}

/* The number of windows that end at @us or before. */
static size_t find_time(const struct windows *windows, uint64_t us)
{
	size_t i = 0;

	while (i < windows->n && !windows->rows[i].open && windows_end_us(&windows->rows[i]) <= us)
		i++;
	return i;
}

/* The number of windows that start before @us. */
static size_t find_start(const struct windows *windows, uint64_t us)
{
	size_t i = 0;

	while (i < windows->n && windows->rows[i].start_us < us)
		i++;
	return i;
}

/* The window @back before the open one. @-1 is the last closed window even if none is open. */
static bool find_recent(const struct windows *windows, uint64_t back, size_t *ret)
{
	size_t n_closed = windows_n_closed(windows);

	if (back > n_closed || (back == 0 && n_closed == windows->n))
		return false;
	*ret = n_closed - back;
	return true;
}

/* An id must be one of a window, or of a part of one; a time only limits the range. */
static bool bound_exists(const struct windows *windows, const struct window_bound *bound)
{
	size_t at, n;

	switch (bound->kind) {
	case BOUND_ID:
		return find_holder(windows, bound->number, &at);
	case BOUND_RECENT:
		return find_recent(windows, bound->number, &at);
	case BOUND_NAME:
		return mark_ref_find(windows, bound->name, &at, &n);
	default:
		return true;
	}
}

static bool find_one(const struct window_ref *ref, const struct windows *windows, size_t *ret)
{
	const struct window_bound *bound = &ref->first;

	switch (bound->kind) {
	case BOUND_ID:
		return find_holder(windows, bound->number, ret);
	case BOUND_RECENT:
		return find_recent(windows, bound->number, ret);
	default:
		return false;
	}
}

/* The index of the first window of a range whose bound exists. */
static size_t find_begin(const struct window_ref *ref, const struct windows *windows)
{
	const struct window_bound *bound = &ref->first;
	size_t n_closed = windows_n_closed(windows), at = 0, n = 0;
	uint64_t us;

	switch (bound->kind) {
	case BOUND_ID:
		find_holder(windows, bound->number, &at); /* it exists */
		return at;
	case BOUND_RECENT:
		return n_closed - (size_t)bound->number;
	case BOUND_TIME:
		us = time_spec_us(&bound->time, false);
		return us <= ref->now_us ? find_time(windows, us) : windows->n;
	case BOUND_NAME:
		mark_ref_find(windows, bound->name, &at, &n); /* it exists */
		return at;
	default:
		return 0;
	}
}

/* The index behind its last window. */
static size_t find_end(const struct window_ref *ref, const struct windows *windows)
{
	const struct window_bound *bound = &ref->last;
	size_t n_closed = windows_n_closed(windows), at = 0, n = 0;

	switch (bound->kind) {
	case BOUND_ID:
		return find_id(windows, bound->number + 1);
	case BOUND_RECENT:
		return n_closed - (size_t)bound->number + 1;
	case BOUND_TIME:
		return find_start(windows, range_end_us(&bound->time));
	case BOUND_NAME:
		mark_ref_find(windows, bound->name, &at, &n); /* it exists */
		return at + n;
	default:
		return windows->n;
	}
}

/* What is no mark may have been meant as a time, or as a program. */
static int no_such_mark(const struct windows *windows, const char *name, struct fault *fault)
{
	bool is_time = *name >= '0' && *name <= '9';
	struct fault mark;

	mark_ref_not_found(windows, name, &mark);
	return fault_set(fault, -ENOENT, "%s; %s%s", mark.text,
			 is_time ? "the time until now is -" : "a program is selected by --comm ",
			 name);
}

static int resolve_range(const struct window_ref *ref, const struct windows *windows,
			 size_t *ret_first, size_t *ret_n, struct fault *fault)
{
	const struct window_bound *const bounds[] = { &ref->first, &ref->last };
	size_t begin, end;

	for (size_t i = 0; i < ARRAY_SIZE(bounds); i++)
		if (bounds[i]->kind == BOUND_NAME && !windows_find_mark(windows, bounds[i]->name))
			return no_such_mark(windows, bounds[i]->name, fault);
	if (!bound_exists(windows, &ref->first) || !bound_exists(windows, &ref->last))
		return not_found(ref, windows, fault, "no window at one end of");
	begin = find_begin(ref, windows);
	end = find_end(ref, windows);
	if (begin >= end)
		return not_found(ref, windows, fault, "no window in");
	*ret_first = begin;
	*ret_n = end - begin;
	return 0;
}

/* The windows of a span of time. */
static int resolve_time(const struct window_ref *ref, const struct windows *windows,
			size_t *ret_first, size_t *ret_n, struct fault *fault)
{
	uint64_t since, until, n_newest;
	size_t begin, end;

	window_ref_span(ref, &since, &until, &n_newest);
	if (since > ref->now_us)
		return not_found(ref, windows, fault, "no window yet at");
	begin = find_time(windows, since);
	end = find_start(windows, until);
	if (begin >= end)
		return not_found(ref, windows, fault, "no window at");
	*ret_first = begin;
	*ret_n = end - begin;
	return 0;
}

static int resolve_recent(const struct window_ref *ref, const struct windows *windows,
			  size_t *ret_first, size_t *ret_n, struct fault *fault)
{
	uint64_t since, until, n_newest;
	struct fault list;

	window_ref_span(ref, &since, &until, &n_newest);
	*ret_first = find_time(windows, since);
	if (*ret_first < windows->n) {
		*ret_n = windows->n - *ret_first;
		return 0;
	}
	describe(ref, windows, &list);
	return fault_set(fault, -ENOENT, "no window in the last five minutes: %s", list.text);
}

int window_ref_resolve(const struct window_ref *ref, const struct windows *windows,
		       size_t *ret_first, size_t *ret_n, struct fault *fault)
{
	const struct window_bound *first = &ref->first;

	if (ref->kind == WINDOW_REF_RECENT)
		return resolve_recent(ref, windows, ret_first, ret_n, fault);
	if (ref->kind == WINDOW_REF_RANGE)
		return resolve_range(ref, windows, ret_first, ret_n, fault);
	if (first->kind == BOUND_TIME)
		return resolve_time(ref, windows, ret_first, ret_n, fault);
	if (first->kind == BOUND_NAME)
		return mark_ref_find(windows, first->name, ret_first, ret_n) ?
			       0 :
			       no_such_mark(windows, first->name, fault);
	if (find_one(ref, windows, ret_first)) {
		*ret_n = 1;
		return 0;
	}
	return not_found(ref, windows, fault, "no window");
}

bool window_ref_is_merged(const struct window_bound *bound, const struct window_info *window)
{
	return bound->kind == BOUND_ID && !window->open && (uint64_t)window->id < bound->number;
}
