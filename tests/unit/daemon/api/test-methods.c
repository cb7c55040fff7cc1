/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The methods on a real store with profiles made by hand, called over a socket. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <time.h>

#include "common/profile/filter.h"
#include "tests/support/methods-service.h"

static void assert_list(struct caller *caller, const char *parameters, const char *ids)
{
	json_t *reply = call(caller, "ListWindows", parameters);
	char text[256];

	format_ids(reply, text, sizeof(text));
	assert_string_equal(text, ids);
	json_decref(reply);
}

/*
 * The sum of the random profiles of @n seeds, those from @first on; named as the archive names
 * them, for some of their places may happen to be in this machine's kernel.
 */
static struct profile *sum_of(uint64_t first, size_t n)
{
	struct profile *parts[64], *sum = NULL;

	assert_true(n <= ARRAY_SIZE(parts));
	for (size_t i = 0; i < n; i++) {
		parts[i] = random_profile(first + i, 0);
		assert_int_equal(profile_finalize(parts[i]), 0);
	}
	assert_int_equal(profile_merge(&sum, (const struct profile *const *)parts, n), 0);
	for (size_t i = 0; i < n; i++)
		profile_free(parts[i]);
	return sum;
}

static void assert_profile(struct caller *caller, const char *parameters, const char *ids,
			   struct profile *expected)
{
	struct profile *profile = get_profile(caller, parameters, ids);

	assert_true(profile_equal(profile, expected));
	profile_free(profile);
	profile_free(expected);
}

static void windows_are_listed(void **state)
{
	struct service service;
	struct caller caller;
	char text[128];

	service_init(&service);
	caller = connect_caller(&service);
	assert_list(&caller, "{}", "");
	for (uint64_t i = 0; i < 5; i++)
		add_window(&service, i + 1, false, i);
	assert_list(&caller, "{}", "1,2,3,4,5");
	assert_list(&caller, "{\"since_us\":null}", "1,2,3,4,5");
	assert_list(&caller, "{\"latest\":2}", "4,5");
	assert_list(&caller, "{\"latest\":0}", "");
	assert_list(&caller, "{\"latest\":9}", "1,2,3,4,5");
	/* the window that holds a moment */
	snprintf(text, sizeof(text), "{\"since_us\":%llu,\"until_us\":%llu}",
		 START_US + 2 * LENGTH_US, START_US + 2 * LENGTH_US + 1);
	assert_list(&caller, text, "3");
	snprintf(text, sizeof(text), "{\"since_us\":%llu,\"latest\":1}", START_US + LENGTH_US + 5);
	assert_list(&caller, text, "5");
	snprintf(text, sizeof(text), "{\"until_us\":%llu}", START_US + LENGTH_US);
	assert_list(&caller, text, "1");
	assert_list(&caller, "{\"until_us\":0}", "");

	assert_refused(&caller, "ListWindows", "{\"since_us\":-1}", "since_us");
	assert_refused(&caller, "ListWindows", "{\"since_us\":1.5}", "since_us");
	assert_refused(&caller, "ListWindows", "{\"sinc_us\":1}", "sinc_us");
	caller_done(&caller);
	service_done(&service);
}

static void the_open_window_is_listed_last(void **state)
{
	struct service service;
	struct caller caller;
	char text[128];

	service_init(&service);
	caller = connect_caller(&service);
	archive_set_open(service.archive, START_US, "software");
	assert_list(&caller, "{}", "0");
	add_window(&service, 1, false, 0);
	assert_list(&caller, "{}", "1,0");
	assert_list(&caller, "{\"latest\":1}", "0");
	snprintf(text, sizeof(text), "{\"until_us\":%llu}", START_US + LENGTH_US);
	assert_list(&caller, text, "1");
	snprintf(text, sizeof(text), "{\"since_us\":%llu}", START_US + LENGTH_US);
	assert_list(&caller, text, "0");
	archive_set_open(service.archive, 0, NULL);
	assert_list(&caller, "{}", "1");
	caller_done(&caller);
	service_done(&service);
}

static void a_profile_is_what_was_stored(void **state)
{
	struct service service;
	struct caller caller;

	service_init(&service);
	caller = connect_caller(&service);
	for (uint64_t i = 0; i < 40; i++)
		add_window(&service, i + 1, false, i);
	assert_profile(&caller, "{\"first\":7}", "7", sum_of(7, 1));
	assert_profile(&caller, "{\"first\":7,\"last\":7}", "7", sum_of(7, 1));
	assert_profile(&caller, "{\"first\":7,\"last\":9}", "7,8,9", sum_of(7, 3));
	/* more than are added up at once */
	assert_profile(&caller, "{\"first\":1,\"last\":40}",
		       "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,"
		       "29,30,31,32,33,34,35,36,37,38,39,40",
		       sum_of(1, 40));
	assert_int_equal(service.n_cuts, 0);
	caller_done(&caller);
	service_done(&service);
}

static void a_window_that_is_not_there(void **state)
{
	struct service service;
	struct caller caller;
	char text[256];

	service_init(&service);
	caller = connect_caller(&service);
	assert_error(&caller, "GetProfile", "{\"first\":1}",
		     "{\"error\":\"io.branchd.NoSuchWindow\",\"parameters\":{}}");
	assert_error(&caller, "GetProfile", "{}", "{\"error\":\"io.branchd.NotSampling\"}");
	add_window(&service, 1, false, 0);
	add_window(&service, 2, false, 1);
	snprintf(text, sizeof(text),
		 "{\"error\":\"io.branchd.NoSuchWindow\",\"parameters\":{\"first\":1,\"last\":2,"
		 "\"since_us\":%llu,\"until_us\":%llu}}",
		 START_US, START_US + 2 * LENGTH_US);
	assert_error(&caller, "GetProfile", "{\"first\":3}", text);
	assert_error(&caller, "GetProfile", "{\"first\":1,\"last\":3}", text);
	assert_error(&caller, "GetProfile", "{\"first\":9223372036854775807}", text);
	assert_refused(&caller, "GetProfile", "{\"first\":2,\"last\":1}", "last");
	assert_refused(&caller, "GetProfile", "{\"last\":1}", "first");
	assert_refused(&caller, "GetProfile", "{\"first\":0,\"last\":1}", "last");
	assert_error(&caller, "GetProfile", "{\"first\":1,\"last\":0}",
		     "{\"error\":\"io.branchd.NotSampling\"}");
	caller_done(&caller);
	service_done(&service);
}

static void the_open_window_is_its_parts(void **state)
{
	struct service service;
	struct caller caller;

	service_init(&service);
	caller = connect_caller(&service);
	add_window(&service, 1, false, 0);
	archive_set_open(service.archive, START_US + LENGTH_US, "software");
	service.part = 2;
	assert_profile(&caller, "{}", "0", sum_of(2, 1));
	assert_int_equal(service.n_cuts, 1);
	/* a part so new need not be asked for again (on a slow machine it is; then none comes) */
	service.part = 0;
	assert_profile(&caller, "{\"first\":0}", "0", sum_of(2, 1));
	usleep(150000);
	service.part = 3;
	assert_profile(&caller, "{\"first\":0,\"last\":0}", "0", sum_of(2, 2));
	service.part = 0;
	assert_profile(&caller, "{\"first\":1,\"last\":0}", "1,0", sum_of(1, 3));

	/* when it is closed, the parts are in what is stored, and no more in what is open */
	add_window(&service, 4, false, 1);
	assert_profile(&caller, "{\"first\":2}", "2", sum_of(2, 3));
	usleep(150000);
	service.part = 5;
	assert_profile(&caller, "{}", "0", sum_of(5, 1));
	caller_done(&caller);
	service_done(&service);
}

static void a_collector_that_is_silent_is_not_waited_for(void **state)
{
	struct profile *profile;
	struct service service;
	struct caller caller;

	service_init(&service);
	caller = connect_caller(&service);
	archive_set_open(service.archive, START_US, "software");
	profile = get_profile(&caller, "{}", "0");
	assert_int_equal(profile->n_stacks, 0);
	profile_free(profile);
	caller_done(&caller);
	service_done(&service);
}

static void callers_who_go_leave_nothing_behind(void **state)
{
	struct service service;
	struct caller callers[8], stays;

	service_init(&service);
	stays = connect_caller(&service);
	archive_set_open(service.archive, START_US, "software");
	for (size_t i = 0; i < ARRAY_SIZE(callers); i++) {
		callers[i] = connect_caller(&service);
		caller_say(&callers[i],
			   i % 2 ? "{\"method\":\"io.branchd.GetProfile\"}" :
				   "{\"method\":\"io.branchd.ListWindows\",\"more\":true}");
	}
	caller_run(service.event, 1000);
	for (size_t i = 0; i < ARRAY_SIZE(callers); i++)
		caller_done(&callers[i]);
	caller_run(service.event, 1000);
	service.part = 1;
	add_window(&service, 1, true, 0);
	add_window(&service, 2, false, 0);
	assert_profile(&stays, "{\"first\":1}", "1", sum_of(1, 2));

	/* the service going while calls are kept */
	caller_say(&stays, "{\"method\":\"io.branchd.ListWindows\",\"more\":true}");
	caller_run(service.event, 1000);
	service_done(&service);
	caller_done(&stays);
}

static struct caller keep_processes(struct service *service)
{
	struct caller caller = connect_caller(service);

	caller_say(&caller, "{\"method\":\"io.branchd.KeepProcesses\",\"more\":true}");
	assert_string_equal(caller_hear(&caller), "{\"parameters\":{},\"continues\":true}");
	return caller;
}

static void processes_are_kept_while_anybody_asks(void **state)
{
	struct caller a, b, c;
	struct service service;

	service_init(&service);
	c = connect_caller(&service);
	assert_refused(&c, "KeepProcesses", "{}", "more");
	assert_refused(&c, "KeepProcesses", "{\"pid\":1}", "pid");
	assert_false(service.keeps_processes);
	a = keep_processes(&service);
	b = keep_processes(&service);
	assert_true(service.keeps_processes);
	caller_done(&a);
	caller_run(service.event, 1000);
	assert_true(service.keeps_processes);
	caller_done(&b);
	caller_run(service.event, 1000);
	assert_false(service.keeps_processes);

	/* the service going while a call is kept */
	a = keep_processes(&service);
	service_done(&service);
	caller_done(&a);
	caller_done(&c);
}

static void assert_heard(struct caller *caller, const char *ids, bool continues)
{
	const char *text = caller_hear(caller);
	json_t *reply;
	char list[64];

	assert_non_null(text);
	reply = json_loads(text, 0, NULL);
	format_ids(reply, list, sizeof(list));
	assert_string_equal(list, ids);
	assert_int_equal(json_is_true(json_object_get(reply, "continues")), continues);
	json_decref(reply);
}

static void windows_are_followed(void **state)
{
	struct caller caller, until;
	struct service service;
	char text[128];

	service_init(&service);
	caller = connect_caller(&service);
	until = connect_caller(&service);
	add_window(&service, 1, false, 0);
	caller_say(&caller, "{\"method\":\"io.branchd.ListWindows\",\"more\":true,"
			    "\"parameters\":{\"latest\":0}}");
	snprintf(text, sizeof(text),
		 "{\"method\":\"io.branchd.ListWindows\",\"more\":true,"
		 "\"parameters\":{\"until_us\":%llu}}",
		 START_US + 2 * LENGTH_US);
	caller_say(&until, text);
	assert_heard(&caller, "", true);
	assert_heard(&until, "1", true);
	add_window(&service, 2, false, 1);
	assert_heard(&caller, "2", true);
	assert_heard(&until, "2", true);
	add_window(&service, 3, true, 2); /* a part is not told */
	add_window(&service, 4, false, 2);
	assert_heard(&caller, "3", true);
	assert_heard(&until, "", false);
	assert_list(&until, "{\"latest\":1}", "0");
	caller_done(&caller);
	caller_done(&until);
	service_done(&service);
}

static struct profile *filtered(struct profile *profile, const struct profile_filter *filter)
{
	struct profile *part = NULL;

	assert_int_equal(profile_filter(&part, profile, filter), 0);
	profile_free(profile);
	return part;
}

static void profiles_are_filtered(void **state)
{
	struct profile_filter filter = PROFILE_FILTER_INIT;
	struct service service;
	struct caller caller;

	service_init(&service);
	caller = connect_caller(&service);
	add_window(&service, 1, false, 0);
	filter.pid = "1";
	assert_profile(&caller, "{\"first\":1,\"pid\":1}", "1", filtered(sum_of(1, 1), &filter));
	filter = PROFILE_FILTER_INIT;
	filter.uid = "1";
	assert_profile(&caller, "{\"first\":1,\"uid\":1}", "1", filtered(sum_of(1, 1), &filter));
	filter = PROFILE_FILTER_INIT;
	filter.uid = "1,2";
	filter.pid = "0,1,7";
	assert_profile(&caller, "{\"first\":1,\"uids\":\"1,2\",\"pids\":\"0,1,7\"}", "1",
		       filtered(sum_of(1, 1), &filter));
	filter = PROFILE_FILTER_INIT;
	filter.exclude_comm = "a*";
	filter.container = "3f4a";
	assert_profile(&caller, "{\"first\":1,\"exclude_comm\":\"a*\",\"container\":\"3f4a\"}", "1",
		       filtered(sum_of(1, 1), &filter));
	filter = PROFILE_FILTER_INIT;
	filter.comm = "caf\xc3\xa9";
	filter.unit = "x";
	assert_profile(&caller, "{\"first\":1,\"comm\":\"caf\xc3\xa9\",\"unit\":\"x\"}", "1",
		       filtered(sum_of(1, 1), &filter));
	filter.unit = "y \xee\xbe\x80"; /* whose JSON is not its bytes */
	filter.comm = NULL;
	assert_profile(&caller, "{\"first\":1,\"unit\":\"y \xee\xbf\xae\xee\xbe\xbe\xee\xbe\x80\"}",
		       "1", filtered(sum_of(1, 1), &filter));
	assert_refused(&caller, "GetProfile", "{\"first\":1,\"pid\":\"1\"}", "pid");
	caller_done(&caller);
	service_done(&service);
}

static void the_status(void **state)
{
	struct service service;
	struct caller caller;
	json_t *reply, *status;
	const char *text;

	service_init(&service);
	caller = connect_caller(&service);
	reply = call(&caller, "GetStatus", "{}");
	status = json_object_get(reply, "parameters");
	text = json_string_value(json_object_get(json_object_get(status, "sampling"), "reason"));
	assert_string_equal(text, "it is a test");
	assert_int_equal(json_array_size(json_object_get(status, "problems")), 1);
	assert_true(json_is_true(json_object_get(status, "privileged")));
	assert_true(json_integer_value(
			    json_object_get(json_object_get(status, "cost"), "rss_bytes")) > 0);
	json_decref(reply);
	assert_refused(&caller, "GetStatus", "{\"x\":0}", "x");
	caller_done(&caller);
	service_done(&service);
}

/* Every method, type and error that is served is in the description. */
static void the_description(void **state)
{
	static const char *const words[] = {
		"interface io.branchd\n", "method GetStatus(",   "method ListWindows(",
		"method GetProfile(",     "error NoSuchWindow",  "error NotSampling",
		"error TooLarge",         "error InternalError", "type Window ",
	};
	struct service service;
	struct caller caller;
	const char *text;
	json_t *reply;

	service_init(&service);
	caller = connect_caller(&service);
	reply = caller_call(&caller, "{\"method\":\"org.varlink.service.GetInterfaceDescription\","
				     "\"parameters\":{\"interface\":\"io.branchd\"}}");
	text = json_string_value(
		json_object_get(json_object_get(reply, "parameters"), "description"));
	assert_non_null(text);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		assert_non_null(strstr(text, words[i]));
	json_decref(reply);
	caller_done(&caller);
	service_done(&service);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_are_listed),
		cmocka_unit_test(the_open_window_is_listed_last),
		cmocka_unit_test(a_profile_is_what_was_stored),
		cmocka_unit_test(a_window_that_is_not_there),
		cmocka_unit_test(the_open_window_is_its_parts),
		cmocka_unit_test(a_collector_that_is_silent_is_not_waited_for),
		cmocka_unit_test(callers_who_go_leave_nothing_behind),
		cmocka_unit_test(windows_are_followed),
		cmocka_unit_test(processes_are_kept_while_anybody_asks),
		cmocka_unit_test(profiles_are_filtered),
		cmocka_unit_test(the_status),
		cmocka_unit_test(the_description),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
