/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Marks over the socket: who may make them, what is refused, and what the lists say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/varlink/peer.h"
#include "tests/support/methods-service.h"

static bool privileged;

static int get_peer(struct peer *ret, int fd, gid_t group)
{
	*ret = (struct peer){ .uid = 1234, .privileged = privileged };
	return 0;
}

static void begin(struct service *service)
{
	service_init_with(service, &(struct query_limits){}, get_peer);
	for (uint64_t i = 0; i < 4; i++)
		add_window(service, i + 1, false, i);
}

static json_int_t number_of(const json_t *mark, const char *name)
{
	return json_integer_value(json_object_get(mark, name));
}

static void assert_mark(const json_t *mark)
{
	assert_string_equal(json_string_value(json_object_get(mark, "name")), "before");
	assert_int_equal(number_of(mark, "first"), 2);
	assert_int_equal(number_of(mark, "last"), 3);
	assert_int_equal(number_of(mark, "windows"), 2);
	assert_int_equal(number_of(mark, "samples"), 2 + 3);
	assert_int_equal(number_of(mark, "lost"), 2);
	assert_int_equal(number_of(mark, "since_us"), START_US + LENGTH_US);
	assert_int_equal(number_of(mark, "until_us"), START_US + 3 * LENGTH_US);
	assert_int_equal(number_of(mark, "uid"), 1234);
	assert_true(number_of(mark, "made_us") > 0);
}

/* The only mark that the method lists. */
static void assert_listed(struct caller *caller, const char *method)
{
	json_t *reply = call(caller, method, "{}");
	json_t *marks = json_object_get(json_object_get(reply, "parameters"), "marks");

	assert_int_equal(json_array_size(marks), 1);
	assert_mark(json_array_get(marks, 0));
	json_decref(reply);
}

static void test_a_mark_comes_and_goes(void **state)
{
	struct service service;
	struct caller caller;
	json_t *reply;

	privileged = true;
	begin(&service);
	caller = connect_caller(&service);
	assert_error(&caller, "ListMarks", "{}",
		     "{\"parameters\":{\"marks\":[],\"max_marks\":64}}");
	reply = call(&caller, "AddMark", "{\"name\":\"before\",\"first\":2,\"last\":3}");
	assert_mark(json_object_get(json_object_get(reply, "parameters"), "mark"));
	json_decref(reply);
	assert_listed(&caller, "ListMarks");
	assert_listed(&caller, "ListWindows");
	assert_error(&caller, "DeleteMark", "{\"name\":\"before\"}", "{\"parameters\":{}}");
	assert_error(&caller, "DeleteMark", "{\"name\":\"before\"}",
		     "{\"error\":\"io.branchd.NoSuchMark\",\"parameters\":{\"name\":\"before\"}}");
	caller_done(&caller);
	service_done(&service);
}

#define INVALID(name)                                          \
	"{\"error\":\"org.varlink.service.InvalidParameter\"," \
	"\"parameters\":{\"parameter\":\"" name "\"}}"

static void test_what_is_refused(void **state)
{
	struct service service;
	struct caller caller;

	privileged = true;
	begin(&service);
	caller = connect_caller(&service);
	assert_error(&caller, "AddMark", "{\"first\":1}", INVALID("name"));
	assert_error(&caller, "AddMark", "{\"name\":\"a b\",\"first\":1}", INVALID("name"));
	assert_error(&caller, "AddMark", "{\"name\":\"now\",\"first\":1}", INVALID("name"));
	assert_error(&caller, "AddMark", "{\"name\":\"a\"}", INVALID("first"));
	assert_error(&caller, "AddMark", "{\"name\":\"a\",\"first\":0}", INVALID("first"));
	assert_error(&caller, "AddMark", "{\"name\":\"a\",\"first\":3,\"last\":2}",
		     INVALID("last"));
	assert_error(&caller, "AddMark", "{\"name\":\"a\",\"first\":1,\"size\":2}",
		     INVALID("size"));
	assert_error(&caller, "AddMark", "{\"name\":\"a\",\"first\":1,\"last\":9}",
		     "{\"error\":\"io.branchd.NoSuchWindow\"}");
	json_decref(call(&caller, "AddMark", "{\"name\":\"a\",\"first\":1}"));
	assert_error(&caller, "AddMark", "{\"name\":\"a\",\"first\":2}",
		     "{\"error\":\"io.branchd.MarkExists\",\"parameters\":{\"name\":\"a\"}}");
	assert_error(&caller, "DeleteMark", "{}", INVALID("name"));
	caller_done(&caller);
	service_done(&service);
}

static void test_others_only_see_them(void **state)
{
	static const char denied[] = "{\"error\":\"org.varlink.service.PermissionDenied\"}";
	struct service service;
	struct caller caller, other;

	privileged = true;
	begin(&service);
	caller = connect_caller(&service);
	json_decref(call(&caller, "AddMark", "{\"name\":\"before\",\"first\":2,\"last\":3}"));
	privileged = false;
	other = connect_caller(&service);
	assert_error(&other, "AddMark", "{\"name\":\"mine\",\"first\":1}", denied);
	assert_error(&other, "DeleteMark", "{\"name\":\"before\"}", denied);
	assert_listed(&other, "ListMarks");
	caller_done(&caller);
	caller_done(&other);
	service_done(&service);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_mark_comes_and_goes),
		cmocka_unit_test(test_what_is_refused),
		cmocka_unit_test(test_others_only_see_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
