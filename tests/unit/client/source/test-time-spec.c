/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* In Central European Time: the clock goes forward on 2026-03-29 at 2:00, back on 2026-10-25 at
 * 3:00. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "client/source/time-spec.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define ZONE "CET-1CEST,M3.5.0,M10.5.0/3"

/* Seconds since 1970 of a time in UTC. */
static uint64_t utc(int year, int month, int day, int hour, int minute, int second)
{
	struct tm tm = {
		.tm_year = year - 1900,
		.tm_mon = month - 1,
		.tm_mday = day,
		.tm_hour = hour,
		.tm_min = minute,
		.tm_sec = second,
	};

	return (uint64_t)timegm(&tm);
}

static void set_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

static uint64_t parse_at(const char *text, uint64_t now, bool late)
{
	struct time_spec spec;

	assert_int_equal(time_spec_parse(&spec, text, now * 1000000 + 123456), 0);
	return time_spec_us(&spec, late) / 1000000;
}

/* The 20th of November 2026, 14:30:15 in the zone. */
static uint64_t parse(const char *text)
{
	return parse_at(text, utc(2026, 11, 20, 13, 30, 15), false);
}

static void test_times_of_the_day(void **state)
{
	assert_int_equal(parse("10:00"), utc(2026, 11, 20, 9, 0, 0));
	assert_int_equal(parse("9:05"), utc(2026, 11, 20, 8, 5, 0));
	assert_int_equal(parse("10:00:30"), utc(2026, 11, 20, 9, 0, 30));
	assert_int_equal(parse("0:00"), utc(2026, 11, 19, 23, 0, 0));
	assert_int_equal(parse("23:59:59"), utc(2026, 11, 20, 22, 59, 59));
}

static void test_days(void **state)
{
	assert_int_equal(parse("today"), utc(2026, 11, 19, 23, 0, 0));
	assert_int_equal(parse("yesterday"), utc(2026, 11, 18, 23, 0, 0));
	assert_int_equal(parse("yesterday-10:00"), utc(2026, 11, 19, 9, 0, 0));
	assert_int_equal(parse("yesterday 10:00"), utc(2026, 11, 19, 9, 0, 0));
	assert_int_equal(parse("2026-11-20 10:00"), utc(2026, 11, 20, 9, 0, 0));
	assert_int_equal(parse("2026-11-20T10:00:01"), utc(2026, 11, 20, 9, 0, 1));
	assert_int_equal(parse("2026-11-20-10:00"), utc(2026, 11, 20, 9, 0, 0));
	assert_int_equal(parse("2026-07-01"), utc(2026, 6, 30, 22, 0, 0));
	assert_int_equal(parse("2028-02-29"), utc(2028, 2, 28, 23, 0, 0));
}

static void test_the_day_is_that_of_the_zone(void **state)
{
	/* 23:30 in UTC is the next day there */
	assert_int_equal(parse_at("today", utc(2026, 11, 19, 23, 30, 0), false),
			 utc(2026, 11, 19, 23, 0, 0));
	assert_int_equal(parse_at("yesterday-23:00", utc(2026, 1, 1, 0, 0, 0), false),
			 utc(2025, 12, 31, 22, 0, 0));
}

static void test_ago(void **state)
{
	uint64_t now = utc(2026, 11, 20, 13, 30, 15);

	assert_int_equal(parse("now"), now);
	assert_int_equal(parse("-30s"), now - 30);
	assert_int_equal(parse("-5min"), now - 300);
	assert_int_equal(parse("-5m"), now - 300);
	assert_int_equal(parse("-1h30min"), now - 5400);
	assert_int_equal(parse("-2hours"), now - 7200);
	assert_int_equal(parse("-1d"), now - 86400);
	assert_int_equal(parse("-2w"), now - 14 * 86400);
}

static void test_all_that_systemd_has(void **state)
{
	uint64_t now = utc(2026, 11, 20, 13, 30, 15), year = 31557600;

	assert_int_equal(parse("tomorrow"), utc(2026, 11, 20, 23, 0, 0));
	assert_int_equal(parse("+5min"), now + 300);
	assert_int_equal(parse("5min ago"), now - 300);
	assert_int_equal(parse("1h 30 min ago"), now - 5400);
	assert_int_equal(parse("1.5h ago"), now - 5400);
	assert_int_equal(parse("2 months ago"), now - year / 6);
	assert_int_equal(parse("1y ago"), now - year);
	assert_int_equal(parse("@1795168830"), 1795168830);
	assert_int_equal(parse("26-11-19"), utc(2026, 11, 18, 23, 0, 0));
	assert_int_equal(parse("Fri 2026-11-20"), utc(2026, 11, 19, 23, 0, 0));
	assert_int_equal(parse("friday 2026-11-20 10:00"), utc(2026, 11, 20, 9, 0, 0));
	assert_int_equal(parse("10:00 UTC"), utc(2026, 11, 20, 10, 0, 0));
	assert_int_equal(parse("2026-11-20T10:00:01Z"), utc(2026, 11, 20, 10, 0, 1));
	assert_int_equal(parse("2026-11-20T10:00:01-03:30"), utc(2026, 11, 20, 13, 30, 1));
	assert_int_equal(parse("10:00+05:45"), utc(2026, 11, 20, 4, 15, 0));
	assert_int_equal(parse("2026-07-01 10:00 America/New_York"), utc(2026, 7, 1, 14, 0, 0));
	assert_int_equal(parse("10:00"), utc(2026, 11, 20, 9, 0, 0)); /* TZ is as before */
}

static void assert_length(const char *text, uint64_t us)
{
	struct time_spec spec;

	assert_int_equal(time_spec_parse(&spec, text, utc(2026, 11, 20, 13, 30, 15) * 1000000), 0);
	assert_int_equal(time_spec_end_us(&spec) - time_spec_us(&spec, false), us);
}

static void test_what_words_name(void **state)
{
	const uint64_t second = 1000000, day = 86400 * second;

	assert_length("yesterday", day);
	assert_length("2026-10-25", day + 3600 * second);
	assert_length("2026-03-29", day - 3600 * second);
	assert_length("10:00", 60 * second);
	assert_length("yesterday-10:00", 60 * second);
	assert_length("10:00:30", second);
	assert_length("@1795168830", second);
	assert_length("10:00:30.5", 1);
	assert_length("now", 1);
	assert_length("-5min", 300 * second);
	assert_length("5min ago", 300 * second);
}

static void test_hours_that_the_clock_skips(void **state)
{
	uint64_t now = utc(2026, 3, 29, 10, 0, 0);

	assert_int_equal(parse_at("1:59:59", now, false), utc(2026, 3, 29, 0, 59, 59));
	assert_int_equal(parse_at("2:30", now, false), utc(2026, 3, 29, 1, 30, 0)); /* 3:30 */
	assert_int_equal(parse_at("2:30", now, true), utc(2026, 3, 29, 1, 30, 0));
	assert_int_equal(parse_at("3:00", now, false), utc(2026, 3, 29, 1, 0, 0));
	assert_int_equal(parse_at("today", now, false), utc(2026, 3, 28, 23, 0, 0));
	/* a day of 23 hours */
	assert_int_equal(parse_at("yesterday", utc(2026, 3, 30, 10, 0, 0), false),
			 utc(2026, 3, 28, 23, 0, 0));
	assert_int_equal(parse_at("today", utc(2026, 3, 30, 10, 0, 0), false),
			 utc(2026, 3, 29, 22, 0, 0));
}

static void test_hours_that_occur_twice(void **state)
{
	uint64_t now = utc(2026, 10, 25, 10, 0, 0);

	assert_int_equal(parse_at("1:59", now, false), utc(2026, 10, 24, 23, 59, 0));
	assert_int_equal(parse_at("2:30", now, false), utc(2026, 10, 25, 0, 30, 0));
	assert_int_equal(parse_at("2:30", now, true), utc(2026, 10, 25, 1, 30, 0));
	assert_int_equal(parse_at("3:00", now, false), utc(2026, 10, 25, 2, 0, 0));
	assert_int_equal(parse_at("3:00", now, true), utc(2026, 10, 25, 2, 0, 0));
	assert_int_equal(parse_at("yesterday-12:00", now, true), utc(2026, 10, 24, 10, 0, 0));
}

static void test_zones_far_off(void **state)
{
	set_zone("NPT-5:45");
	assert_int_equal(parse_at("10:00", utc(2026, 11, 20, 13, 0, 0), false),
			 utc(2026, 11, 20, 4, 15, 0));
	set_zone("NZST-12NZDT,M9.5.0,M4.1.0/3");
	assert_int_equal(parse_at("0:30", utc(2026, 11, 20, 13, 0, 0), false),
			 utc(2026, 11, 20, 11, 30, 0));
	set_zone("HST10");
	assert_int_equal(parse_at("23:00", utc(2026, 11, 20, 3, 0, 0), false),
			 utc(2026, 11, 20, 9, 0, 0));
	set_zone("UTC0");
	assert_int_equal(parse_at("10:00", utc(2026, 11, 20, 3, 0, 0), false),
			 utc(2026, 11, 20, 10, 0, 0));
	set_zone(ZONE);
}

static void test_invalid_times(void **state)
{
	static const char *const texts[] = {
		"",
		" ",
		"10",
		"10:",
		"10:0",
		"10:00:",
		"10:60",
		"24:00",
		"10:00:60",
		"100:00",
		"10:00 ",
		" 10:00",
		"10:00x",
		"-",
		"-5",
		"-min",
		"-5parsecs",
		"-5min3",
		"--5min",
		"-99999999w",
		"yesterdays",
		"yesterday-",
		"yesterday-x",
		"today 24:00",
		"2026-11",
		"2026-11-20 ",
		"2026-13-01",
		"2026-06-31",
		"2026-02-29",
		"2026-00-01",
		"2026-01-00",
		"26-1-01",
		"2026-11-20 Fri",
		"Thu 2026-11-20",
		"Fri",
		"10:00:30.",
		"10:00 Europe",
		"10:00 Europe/Nowhere",
		"10:00 ../etc/passwd",
		"10:00+25:00",
		"10:00:00-02:00",
		"5min",
		"5min later",
		"1.min ago",
		"@5",
		"@1795168830x",
		"@99999999999",
		"99999999999999y ago",
		"1969-12-31",
		"2026-1-1",
		"now-5min",
		"2026-11-20x10:00",
		"10:00-11:00",
		"deploy",
		"99999999999:00",
		"-99999999999999999999s",
	};
	struct time_spec spec;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (time_spec_parse(&spec, texts[i], 1800000000000000) != -EINVAL)
			fail_msg("'%s' was taken", texts[i]);
}

static void test_names_are_not_likely_times(void **state)
{
	assert_true(time_spec_is_likely("10:99"));
	assert_true(time_spec_is_likely("-5parsecs"));
	assert_true(time_spec_is_likely("2026-13-13"));
	assert_true(time_spec_is_likely("yesterday-noon"));
	assert_false(time_spec_is_likely("deploy"));
	assert_false(time_spec_is_likely("yesterdays-build"));
	assert_false(time_spec_is_likely("4711x"));
	assert_false(time_spec_is_likely("nowhere"));
}

static void test_times_as_text(void **state)
{
	uint64_t now = utc(2026, 11, 20, 13, 0, 0) * 1000000;
	char text[TIME_SPEC_TEXT_MAX];

	assert_string_equal(time_spec_format(text, now - 3600000000, now), "13:00:00");
	assert_string_equal(time_spec_format(text, now - 86400000000, now), "2026-11-19 14:00:00");
	time_spec_format(text, UINT64_MAX, now);
	assert_true(strlen(text) > 0);
}

static int setup(void **state)
{
	set_zone(ZONE);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times_of_the_day),
		cmocka_unit_test(test_days),
		cmocka_unit_test(test_the_day_is_that_of_the_zone),
		cmocka_unit_test(test_ago),
		cmocka_unit_test(test_all_that_systemd_has),
		cmocka_unit_test(test_what_words_name),
		cmocka_unit_test(test_hours_that_the_clock_skips),
		cmocka_unit_test(test_hours_that_occur_twice),
		cmocka_unit_test(test_zones_far_off),
		cmocka_unit_test(test_invalid_times),
		cmocka_unit_test(test_names_are_not_likely_times),
		cmocka_unit_test(test_times_as_text),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
