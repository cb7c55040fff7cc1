/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "client/source/window-ref.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/util/macro.h"

#define SECOND 1000000ull
#define MINUTE (60 * SECOND)

/* 2026-11-20 10:30:05 in UTC, which is the zone here. */
#define NOW ((1795170605ull) * SECOND)

/*
 * Windows of a minute: 11 to 20 from 10:00 on; then the daemon was not running; 21 to 25 from 10:25
 * on, the last of which closed at 10:30; one is open since then.
 */
static void make_windows(struct windows *ret, bool open)
{
	uint64_t ten = NOW - 30 * MINUTE - 5 * SECOND;
	struct window_info window = { .length_us = MINUTE };

	*ret = (struct windows){};
	for (window.id = 20; window.id > 10; window.id--) { /* in any order */
		window.start_us = ten + (uint64_t)(window.id - 11) * MINUTE;
		assert_int_equal(windows_add(ret, &window), 0);
	}
	for (window.id = 21; window.id <= 25; window.id++) {
		window.start_us = ten + (uint64_t)(window.id + 4) * MINUTE;
		assert_int_equal(windows_add(ret, &window), 0);
	}
	window = (struct window_info){
		.start_us = ten + 30 * MINUTE,
		.length_us = 5 * SECOND,
		.open = true,
	};
	if (open)
		assert_int_equal(windows_add(ret, &window), 0);
}

/* "11-13", "11-0" (0 is the open one), or "" with the fault in @fault. */
static const char *resolve(const char *text, bool open, struct fault *fault)
{
	_cleanup_(windows_done) struct windows windows = {};
	static char found[64];
	struct window_ref ref;
	size_t first, n;

	make_windows(&windows, open);
	fault->text[0] = '\0';
	assert_int_equal(window_ref_parse(&ref, text, NOW, fault), 0);
	if (window_ref_resolve(&ref, &windows, &first, &n, fault) < 0)
		return "";
	assert_true(n > 0 && first + n <= windows.n);
	snprintf(found, sizeof(found), "%d-%d", (int)windows.rows[first].id,
		 (int)windows.rows[first + n - 1].id);
	return found;
}

static void test_window_refs_mean_windows(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ NULL, "21-0" }, /* ends at 10:26, within five minutes */
		{ "11", "11-11" },
		{ "25", "25-25" },
		{ "@0", "0-0" },
		{ "@-0", "0-0" },
		{ "@-1", "25-25" },
		{ "@-5", "21-21" },
		{ "@-6", "20-20" },
		{ "@-15", "11-11" },
		{ "10:00", "11-11" },
		{ "10:00:59", "11-11" },
		{ "10:01", "12-12" },
		{ "10:09:59", "20-20" },
		{ "10:30", "0-0" },
		{ "now", "0-0" },
		{ "-5s", "0-0" },
		{ "-6s", "25-0" },
		{ "-1min", "25-0" },
		{ "2 min ago", "24-0" },
		{ "-30min", "11-0" },
		{ "@1795170245", "" },        /* 10:24:05 */
		{ "@1795170305.5", "21-21" }, /* 10:25:05 */
		{ "10:00:59.5", "11-11" },
		{ "2026-11-20", "11-0" },
		{ "today", "11-0" },
		{ "yesterday", "" },
		{ "tomorrow", "" },
		{ "2026-11-20 11:02 Europe/Berlin", "13-13" },
		{ "2026-11-20 11:02 Europe/Berlin..11:05", "13-15" },
		{ "12:02+02:00", "13-13" },
		{ "2026-11-20T05:02:00-05:00", "13-13" },
		{ "yesterday..today", "11-0" },
		{ "..yesterday", "" },
		{ "today..", "11-0" },
		{ "2026-11-20 10:02", "13-13" },
		{ "10:00..10:10", "11-20" },
		{ "10:00..10:09", "11-19" },
		{ "10:00..10:09:01", "11-20" },
		{ "10:00:30..10:01:30", "11-12" },
		{ "yesterday..", "11-0" },
		{ "yesterday-23:00..0:01", "" }, /* of today */
		{ "..", "11-0" },
		{ "..10:02", "11-12" },
		{ "10:12..10:26", "21-21" },
		{ "10:12..", "21-0" },
		{ "-30min..-29min", "11-12" },
		{ "-2min..", "24-0" },
		{ "-2min..now", "24-0" },
		{ "12..14", "12-14" },
		{ "19..22", "19-22" },
		{ "24..", "24-0" },
		{ "..12", "11-12" },
		{ "@-3..@-1", "23-25" },
		{ "@-1..@0", "25-0" },
		{ "@0..", "0-0" },
		{ "..@-14", "11-12" },
		{ "12..10:04", "12-14" },
		{ "10:03..@-1", "14-25" },
		{ "10:26..23", "22-23" },
	};
	struct fault fault;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (strcmp(resolve(cases[i].text, true, &fault), cases[i].want) != 0)
			fail_msg("'%s' is not %s: %s", cases[i].text, cases[i].want, fault.text);
}

static void test_a_fault_says_what_windows_exist(void **state)
{
	static const char *const texts[] = {
		"10",         "26",       "27",           "0",          "@-16",      "9:59:59",
		"10:10",      "10:24:59", "10:31",        "23:00",      "yesterday", "+1h",
		"10..12",     "12..26",   "10:10..10:20", "9:00..9:30", "@-99..@-1", "26..",
		"2026-11-19", "..26",     "10:31..10:40",
	};
	struct fault fault;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_string_equal(resolve(texts[i], true, &fault), "");
		assert_non_null(strstr(fault.text, texts[i]));
		assert_non_null(strstr(fault.text, "15, ids 11 to 25, from 10:00:00 to 10:30:00"));
	}
}

static void add_mark(struct windows *windows, const char *name, int64_t first, int64_t last)
{
	struct window_mark mark = { .first = first, .last = last };

	snprintf(mark.name, sizeof(mark.name), "%s", name);
	assert_int_equal(windows_add_mark(windows, &mark), 0);
}

static void test_names_are_those_of_marks(void **state)
{
	static const struct {
		const char *text;
		size_t first, n;
	} cases[] = {
		{ "before", 1, 3 },     { "before..", 1, 15 },      { "..before", 0, 4 },
		{ "after", 14, 1 },     { "before..after", 1, 14 }, { "before..@-1", 1, 14 },
		{ "12..before", 1, 3 }, { "10:20..after", 10, 5 },
	};
	_cleanup_(windows_done) struct windows windows = {};
	struct window_ref ref;
	struct fault fault;
	size_t first, n;

	make_windows(&windows, true);
	add_mark(&windows, "after", 25, 25);
	add_mark(&windows, "before", 12, 14);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(window_ref_parse(&ref, cases[i].text, NOW, &fault), 0);
		assert_int_equal(window_ref_resolve(&ref, &windows, &first, &n, &fault), 0);
		assert_int_equal(first, cases[i].first);
		assert_int_equal(n, cases[i].n);
	}
}

static void test_a_fault_names_the_marks_that_exist(void **state)
{
	static const char *const texts[] = { "deploy", "deploy..", "..deploy", "Before" };
	_cleanup_(windows_done) struct windows windows = {};
	struct window_ref ref;
	struct fault fault;
	size_t first, n;

	make_windows(&windows, true);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_string_equal(resolve(texts[i], true, &fault), "");
		assert_non_null(strstr(fault.text, "there are no marks; branchctl mark NAME"));
	}
	add_mark(&windows, "after", 25, 25);
	add_mark(&windows, "before", 12, 14);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(window_ref_parse(&ref, texts[i], NOW, &fault), 0);
		assert_int_equal(window_ref_resolve(&ref, &windows, &first, &n, &fault), -ENOENT);
		assert_non_null(strstr(fault.text, "there are after, before;"));
	}
}

/* Behind a marked window ids are of windows that are gone, unless it was merged of several. */
static void test_what_was_removed_behind_a_mark_is_not_part_of_it(void **state)
{
	static const struct window_info rows[] = {
		{ .id = 1, .start_us = NOW - 60 * MINUTE, .length_us = 3 * MINUTE },
		{ .id = 4, .start_us = NOW - 57 * MINUTE, .length_us = MINUTE },
		{ .id = 50, .start_us = NOW - 10 * MINUTE, .length_us = MINUTE },
	};
	_cleanup_(windows_done) struct windows windows = {};
	struct window_ref ref;
	struct fault fault;
	size_t first, n;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(windows_add(&windows, &rows[i]), 0);
	add_mark(&windows, "before", 1, 4);
	assert_int_equal(window_ref_parse(&ref, "2", NOW, &fault), 0);
	assert_int_equal(window_ref_resolve(&ref, &windows, &first, &n, &fault), 0);
	assert_int_equal(first, 0);
	assert_int_equal(window_ref_parse(&ref, "20", NOW, &fault), 0);
	assert_int_equal(window_ref_resolve(&ref, &windows, &first, &n, &fault), -ENOENT);
}

/* Windows of minutes: 1 to 3 are one of three, 4 to 9 one of six; 11 is the last. */
static const char *resolve_merged(const char *text)
{
	static const uint64_t ids[] = { 1, 4, 10, 11 };
	_cleanup_(windows_done) struct windows windows = {};
	static char found[64];
	struct window_ref ref;
	struct fault fault;
	size_t first, n;

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		const struct window_info window = {
			.id = (int64_t)ids[i],
			.start_us = NOW - 20 * MINUTE + ids[i] * MINUTE,
			.length_us = (i < 2 ? ids[i + 1] - ids[i] : 1) * MINUTE,
		};

		assert_int_equal(windows_add(&windows, &window), 0);
	}
	assert_int_equal(window_ref_parse(&ref, text, NOW, &fault), 0);
	if (window_ref_resolve(&ref, &windows, &first, &n, &fault) < 0)
		return "";
	snprintf(found, sizeof(found), "%d%s-%d%s", (int)windows.rows[first].id,
		 window_ref_is_merged(&ref.first, &windows.rows[first]) ? "*" : "",
		 (int)windows.rows[first + n - 1].id,
		 window_ref_is_merged(&ref.last, &windows.rows[first + n - 1]) ? "*" : "");
	return found;
}

/* With an asterisk where it stands in for the window that was named. */
static void test_a_merged_window_is_the_one_that_holds_it(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "1", "1-1" },       { "2", "1*-1" },   { "3", "1*-1" },     { "4", "4-4" },
		{ "9", "4*-4" },      { "10", "10-10" }, { "2..3", "1*-1*" }, { "2..7", "1*-4*" },
		{ "9..10", "4*-10" }, { "..5", "1-4*" }, { "3..", "1*-11" },  { "5..@-1", "4*-11" },
		{ "0", "" },          { "12", "" },      { "5..12", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (strcmp(resolve_merged(cases[i].text), cases[i].want) != 0)
			fail_msg("'%s' is not %s but %s", cases[i].text, cases[i].want,
				 resolve_merged(cases[i].text));
}

static void test_without_an_open_window(void **state)
{
	struct fault fault;

	assert_string_equal(resolve("@-1", false, &fault), "25-25");
	assert_string_equal(resolve(NULL, false, &fault), "21-25");
	assert_string_equal(resolve("..", false, &fault), "11-25");
	assert_string_equal(resolve("24..", false, &fault), "24-25");
	assert_string_equal(resolve("@0", false, &fault), "");
	assert_string_equal(resolve("now", false, &fault), "");
	assert_string_equal(resolve("@-1..@0", false, &fault), "");
}

static void test_without_any_window(void **state)
{
	static const char *const texts[] = { NULL, "1",    "@0", "@-1",    "10:00",
					     "..", "1..2", "..", "10:00.." };
	struct windows windows = {};
	struct window_ref ref;
	struct fault fault;
	size_t first, n;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		assert_int_equal(window_ref_parse(&ref, texts[i], NOW, &fault), 0);
		assert_int_equal(window_ref_resolve(&ref, &windows, &first, &n, &fault), -ENOENT);
		assert_non_null(strstr(fault.text, "there are none yet"));
	}
}

static enum window_ref_kind kind_of(const char *text)
{
	struct window_ref ref;
	struct fault fault;

	assert_int_equal(window_ref_parse(&ref, text, NOW, &fault), 0);
	return ref.kind;
}

static void test_paths_are_recordings(void **state)
{
	assert_int_equal(kind_of("perf.data"), WINDOW_REF_RECORDING);
	assert_int_equal(kind_of("./perf"), WINDOW_REF_RECORDING);
	assert_int_equal(kind_of("../perf.data"), WINDOW_REF_RECORDING);
	assert_int_equal(kind_of("/tmp/10:00..11:00"), WINDOW_REF_RECORDING);
	assert_int_equal(kind_of(".data"), WINDOW_REF_RECORDING);
	assert_int_equal(kind_of("data"), WINDOW_REF_WINDOW);
	assert_int_equal(kind_of("a.dat"), WINDOW_REF_WINDOW);
	assert_int_equal(kind_of("10:00..10:10"), WINDOW_REF_RANGE);
	assert_int_equal(kind_of(NULL), WINDOW_REF_RECENT);
}

static void test_invalid_window_refs(void **state)
{
	static const char *const texts[] = {
		"",
		"@",
		"@1",
		"@-",
		"@x",
		"@--1",
		"@-1x",
		"10:99",
		"-5parsecs",
		"-5",
		"2026-13-01",
		"yesterday-25:00",
		"10:99..",
		"..-5",
		"@7..",
		"5..3",
		"@-1..@-3",
		"-1min..-2min",
		"10:00..10:00",
		"-5min..@2",
		"1..@9",
	};
	struct window_ref ref;
	struct fault fault;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		fault.text[0] = '\0';
		if (window_ref_parse(&ref, texts[i], NOW, &fault) != -EINVAL)
			fail_msg("'%s' was taken", texts[i]);
		assert_true(fault.text[0] && !strchr(fault.text, '\n'));
	}
}

/* The end of a range is on the day of its start, or after midnight. */
static void test_ranges_of_another_day(void **state)
{
	struct window_ref ref;
	struct fault fault;
	uint64_t since, until, n_newest;

	assert_int_equal(window_ref_parse(&ref, "yesterday-10:00..10:10", NOW, &fault), 0);
	window_ref_span(&ref, &since, &until, &n_newest);
	assert_int_equal(until - since, 10 * MINUTE);
	assert_int_equal(NOW - since, 86400 * SECOND + 30 * MINUTE + 5 * SECOND);

	assert_int_equal(window_ref_parse(&ref, "2026-11-18 23:50..0:10", NOW, &fault), 0);
	window_ref_span(&ref, &since, &until, &n_newest);
	assert_int_equal(until - since, 20 * MINUTE);

	/* a day is a whole one */
	assert_int_equal(window_ref_parse(&ref, "yesterday-10:00..today", NOW, &fault), 0);
	window_ref_span(&ref, &since, &until, &n_newest);
	assert_int_equal(until - since, 38 * 60 * MINUTE);
}

/* A range contains both occurrences of an hour. */
static void test_ranges_when_clocks_are_put_back(void **state)
{
	struct window_ref ref;
	struct fault fault;
	uint64_t since, until, n_newest;

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	assert_int_equal(window_ref_parse(&ref, "2026-10-25 2:00..2:59", NOW, &fault), 0);
	window_ref_span(&ref, &since, &until, &n_newest);
	assert_int_equal(until - since, 119 * MINUTE);
	assert_int_equal(window_ref_parse(&ref, "2026-10-25", NOW, &fault), 0);
	window_ref_span(&ref, &since, &until, &n_newest);
	assert_int_equal(until - since, 25 * 60 * MINUTE);
	setenv("TZ", "UTC0", 1);
	tzset();
}

static void test_only_needed_windows_are_requested(void **state)
{
	struct window_ref ref;
	struct fault fault;
	uint64_t since, until, n_newest;

	assert_int_equal(window_ref_parse(&ref, NULL, NOW, &fault), 0);
	window_ref_span(&ref, &since, &until, &n_newest);
	assert_int_equal(since, NOW - 5 * MINUTE);
	assert_int_equal(until, UINT64_MAX);
	assert_int_equal(n_newest, 0);

	assert_int_equal(window_ref_parse(&ref, "10:00", NOW, &fault), 0);
	window_ref_span(&ref, &since, &until, &n_newest);
	assert_int_equal(until - since, MINUTE);

	window_ref_of_span(&ref, NOW - MINUTE, 0, NOW);
	window_ref_span(&ref, &since, &until, &n_newest);
	assert_int_equal(since, NOW - MINUTE);
	assert_int_equal(until, UINT64_MAX);

	assert_int_equal(window_ref_parse(&ref, "@-1", NOW, &fault), 0);
	window_ref_span(&ref, &since, &until, &n_newest);
	assert_int_equal(since, 0);
	assert_int_equal(n_newest, 2);
}

static int setup(void **state)
{
	setenv("TZ", "UTC0", 1);
	tzset();
	return 0;
}

static void test_a_likely_word_is_no_symbol(void **state)
{
	static const char *const windows[] = { "./x",       "/dev/null", "a.data",
					       "@-1",       "-5min",     "42",
					       "yesterday", "5min ago",  "Fri 2026-11-20" };
	static const char *const symbols[] = { "main",         "libc.so.6:0x10",   "/lib/x.so:0x10",
					       "data",         "ns::operator/(V)", "net/http.Get",
					       "operator new", "nowhere",          "f(int, char)" };

	for (size_t i = 0; i < ARRAY_SIZE(windows); i++)
		assert_true(window_ref_is_likely(windows[i]));
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++)
		assert_false(window_ref_is_likely(symbols[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window_refs_mean_windows),
		cmocka_unit_test(test_a_fault_says_what_windows_exist),
		cmocka_unit_test(test_names_are_those_of_marks),
		cmocka_unit_test(test_a_fault_names_the_marks_that_exist),
		cmocka_unit_test(test_what_was_removed_behind_a_mark_is_not_part_of_it),
		cmocka_unit_test(test_a_merged_window_is_the_one_that_holds_it),
		cmocka_unit_test(test_without_an_open_window),
		cmocka_unit_test(test_without_any_window),
		cmocka_unit_test(test_paths_are_recordings),
		cmocka_unit_test(test_invalid_window_refs),
		cmocka_unit_test(test_ranges_of_another_day),
		cmocka_unit_test(test_ranges_when_clocks_are_put_back),
		cmocka_unit_test(test_only_needed_windows_are_requested),
		cmocka_unit_test(test_a_likely_word_is_no_symbol),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
