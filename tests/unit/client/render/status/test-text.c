/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "client/render/status/text.h"

/* The lines of a daemon that reports this besides. */
static char *render(json_t *status)
{
	struct output output = {};
	char *text = NULL;
	size_t n;

	assert_non_null(status);
	output.f = open_memstream(&text, &n);
	assert_non_null(output.f);
	assert_int_equal(status_write_text(status, &output), 0);
	fclose(output.f);
	json_decref(status);
	return text;
}

static void test_nothing_is_said_where_all_is_well(void **state)
{
	char *text =
		render(json_pack("{s{s{si si si}} s{si si si s[]} s[]}", "helpers", "parser",
				 "connected", 3, "refused", 0, "failed", 0, "naming", "behind", 0,
				 "parsers_cpu", 0, "files_remote", 0, "refused", "problems"));

	assert_null(strstr(text, "\nhelpers"));
	assert_null(strstr(text, "naming"));
	assert_null(strstr(text, "problems"));
	free(text);
}

static void test_one_sentence_for_each_problem(void **state)
{
	char *text = render(json_pack(
		"{s{si si si si si si si si si si si s[{ss ss}{ss ss}]}}", "naming", "behind", 2,
		"parsers_died", 1, "parsers_cpu", 3, "parsers_timeout", 1, "parsers_answer", 1,
		"openers_timeout", 1, "files_skipped", 4, "files_remote", 1, "files_dropped", 7,
		"files_deferred", 1, "lines_malformed", 3, "refused", "path", "/home/x/a", "reason",
		"took too much CPU", "path", "/home/x/b\033[2J", "reason", "its parser crashed"));
	static const char expected[] =
		"naming    2 windows wait for their names\n"
		"          1 parser crashed or was killed\n"
		"          3 parsers were ended: their files took too much CPU time\n"
		"          1 parser was ended: it did not answer in time\n"
		"          1 parser was ended: it answered wrongly\n"
		"          1 opener was ended: it did not answer in time (does a file system "
		"hang?)\n"
		"          4 files were not tried: their file systems had not answered before\n"
		"          1 file is not opened: it is on a network file system or FUSE; see "
		"RemoteFilesystems= in branchd.conf(5)\n"
		"          7 mapped files were dropped: too many came at once\n"
		"          1 file waits for the next window: one may read only a limited number\n"
		"          3 lines of JIT maps, /tmp/perf-PID.map, name no function\n"
		"          /home/x/a has no names: took too much CPU\n";

	assert_non_null(strstr(text, expected));
	assert_non_null(strstr(text, " has no names: its parser crashed\n"));
	assert_null(strchr(text, '\033'));
	free(text);
}

/* Why parsers and openers fail is below naming. */
static void test_a_failure_is_told_once(void **state)
{
	char *text = render(json_pack("{s{s{si si}s{si si}s{si si}}}", "helpers", "opener",
				      "refused", 0, "failed", 2, "parser", "refused", 5, "failed",
				      2, "events", "refused", 1, "failed", 4));

	assert_non_null(strstr(text,
			       "helpers   branchd-parser could not be reached 5 times\n"
			       "          branchd-events could not be reached 1 time, died or hung "
			       "4 times\n"));
	assert_null(strstr(text, "opener"));
	free(text);
}

static void test_stacks_that_are_complete_and_others(void **state)
{
	char *text = render(json_pack("{s{si si si si si si}}", "stacks", "complete", 1980,
				      "no_table", 13, "stack_bytes", 5, "no_return_address", 0,
				      "invalid_frame", 0, "depth_limit", 2));

	assert_non_null(
		strstr(text, "stacks    99.0 % of 2000 user stacks are complete\n"
			     "          0.7 % end at code without an unwind table\n"
			     "          0.2 % end at the end of the stack bytes that were copied\n"
			     "          0.1 % end at the depth limit\n"));
	assert_null(strstr(text, "invalid"));
	free(text);

	/* stacks by frame pointers are not counted: and an older daemon does not know these */
	text = render(json_pack("{s{si si}}", "stacks", "complete", 0, "no_table", 0));
	assert_null(strstr(text, "stacks"));
	free(text);
	text = render(json_object());
	assert_null(strstr(text, "stacks"));
	free(text);
}

static void test_the_objects_where_most_stacks_end(void **state)
{
	char *text = render(
		json_pack("{s{si si s[{ss si si}{ss si si}{ss si si}{ss si si}{ss si si}]}}",
			  "stacks", "complete", 99990, "no_table", 10, "incomplete", "path", "/a",
			  "stacks", 5, "no_table", 2, "path", "/b", "stacks", 2, "no_table", 0,
			  "path", "/c", "stacks", 1, "no_table", 0, "path", "/d", "stacks", 1,
			  "no_table", 0, "path", "/e", "stacks", 1, "no_table", 0));

	assert_non_null(strstr(text, "stacks    100.0 % of 100000 user stacks are complete\n"
				     "          5 stacks end in /a, 2 of them without a table\n"
				     "          2 end in /b\n"
				     "          1 end in /c\n"
				     "          others end in 2 more objects: see branchctl status "
				     "--json\n"));
	free(text);
}

static void test_losses_have_their_share(void **state)
{
	char *text = render(json_pack("{s{si si si si si}}", "samples", "taken", 990, "written",
				      980, "ring_full", 10, "skipped", 10, "throttled", 2));

	assert_non_null(strstr(text, "missing   10 lost because the ring was full, 1.0 %\n"
				     "          10 skipped by the kernel, 1.0 %\n"
				     "          2 times throttled by the kernel\n"));
	free(text);
}

static void test_how_long_windows_are_kept(void **state)
{
	const json_int_t s = 1000000;
	char *text =
		render(json_pack("{s{s[{sI sI}{sI sI}{sI sI}]}}", "store", "tiers", "length_us",
				 10 * s, "keep_us", 3600 * s, "length_us", 90 * s, "keep_us",
				 86400 * s, "length_us", 3600 * s, "keep_us", 200000 * s));

	assert_non_null(strstr(text, "while there is room it keeps\n"
				     "          windows of 10 s for "
				     "1 h, of 1 min 30 s for 1 "
				     "day,\n"
				     "          of 1 h for 2 days 7 h\n"));
	free(text);
	text = render(json_object());
	assert_null(strstr(text, "keeps"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_said_where_all_is_well),
		cmocka_unit_test(test_one_sentence_for_each_problem),
		cmocka_unit_test(test_a_failure_is_told_once),
		cmocka_unit_test(test_stacks_that_are_complete_and_others),
		cmocka_unit_test(test_the_objects_where_most_stacks_end),
		cmocka_unit_test(test_losses_have_their_share),
		cmocka_unit_test(test_how_long_windows_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
