/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Vacuum and Verify over the socket: who may, what is refused, and that other calls go on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/varlink/peer.h"
#include "tests/support/scene.h"

#define N 6

#define REFUSED(name)                                          \
	"{\"error\":\"org.varlink.service.InvalidParameter\"," \
	"\"parameters\":{\"parameter\":\"" name "\"}}"

static bool privileged;

static int get_peer(struct peer *ret, int fd, gid_t group)
{
	*ret = (struct peer){ .uid = 1234, .privileged = privileged };
	return 0;
}

static void begin(struct scene *scene)
{
	privileged = true;
	scene_begin(scene, &(struct scene_settings){ .get_peer = get_peer, .n_windows = N });
}

static json_int_t number_of(const json_t *reply, const char *name)
{
	return json_integer_value(json_object_get(json_object_get(reply, "parameters"), name));
}

static void test_vacuum(void **state)
{
	struct scene scene;
	json_t *reply;
	char ids[64];

	begin(&scene);
	reply = call(&scene.caller, "Vacuum", "{\"keep_us\":20000000}");
	assert_int_equal(number_of(reply, "windows"), 3);
	assert_true(number_of(reply, "bytes") > 0);
	assert_non_null(json_object_get(json_object_get(reply, "parameters"), "freed_bytes"));
	json_decref(reply);
	reply = call(&scene.caller, "Vacuum", "{\"max_bytes\":1}");
	assert_int_equal(number_of(reply, "windows"), 2);
	assert_true(number_of(reply, "freed_bytes") > 0);
	json_decref(reply);
	reply = call(&scene.caller, "ListWindows", "{}");
	format_ids(reply, ids, sizeof(ids));
	assert_string_equal(ids, "6");
	json_decref(reply);
	scene_end(&scene);
}

static void test_what_is_refused(void **state)
{
	static const char denied[] = "{\"error\":\"org.varlink.service.PermissionDenied\"}";
	struct scene scene;
	struct caller other;

	begin(&scene);
	assert_error(&scene.caller, "Vacuum", "{}", REFUSED("max_bytes"));
	assert_error(&scene.caller, "Vacuum", "{\"max_bytes\":0}", REFUSED("max_bytes"));
	assert_error(&scene.caller, "Vacuum", "{\"max_bytes\":5,\"keep_us\":0}",
		     REFUSED("keep_us"));
	assert_error(&scene.caller, "Vacuum", "{\"max_bytes\":-1}", REFUSED("max_bytes"));
	assert_error(&scene.caller, "Verify", "{\"fast\":1}", REFUSED("fast"));
	privileged = false;
	other = connect_caller(&scene.service);
	assert_error(&other, "Vacuum", "{\"max_bytes\":1}", denied);
	assert_error(&other, "Verify", "{}", denied);
	caller_done(&other);
	scene_end(&scene);
}

static void test_one_at_a_time(void **state)
{
	static const char busy[] = "{\"error\":\"io.branchd.Busy\"}";
	struct scene scene;
	struct caller other;

	begin(&scene);
	other = connect_caller(&scene.service);
	caller_say(&scene.caller,
		   "{\"method\":\"io.branchd.Vacuum\",\"parameters\":{\"max_bytes\":1}}");
	assert_true(sd_event_run(scene.service.event, 1000000) > 0);
	assert_error(&other, "Vacuum", "{\"max_bytes\":1}", busy);
	json_decref(call(&other, "ListMarks", "{}")); /* others are answered meanwhile */
	caller_done(&scene.caller);                   /* it goes, and so it ends */
	caller_run(scene.service.event, 100000);
	json_decref(call(&other, "Vacuum", "{\"max_bytes\":1}"));
	scene.caller = other;
	scene_end(&scene);
}

/* Those of the random windows, whose totals are random, too. */
static void test_verify(void **state)
{
	struct scene scene;
	const json_t *problems;
	json_t *reply;

	begin(&scene);
	reply = call(&scene.caller, "Verify", "{}");
	problems = json_object_get(json_object_get(reply, "parameters"), "problems");
	assert_int_equal(number_of(reply, "windows"), N);
	assert_true(number_of(reply, "bytes") > 4096);
	assert_true(number_of(reply, "found") >= N);
	assert_int_equal(json_array_size(problems), number_of(reply, "found"));
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(problems, 0), "where")),
		"window 1");
	json_decref(reply);
	scene_end(&scene);
}

/* The caller, or the daemon, goes while it is under way. */
static void test_who_verifies_goes(void **state)
{
	struct scene scene;
	struct caller other;

	begin(&scene);
	other = connect_caller(&scene.service);
	caller_say(&scene.caller, "{\"method\":\"io.branchd.Verify\"}");
	assert_true(sd_event_run(scene.service.event, 1000000) > 0);
	caller_done(&scene.caller);
	caller_run(scene.service.event, 500000);
	json_decref(call(&other, "ListMarks", "{}"));
	caller_say(&other, "{\"method\":\"io.branchd.Verify\"}");
	assert_true(sd_event_run(scene.service.event, 1000000) > 0);
	scene.caller = other;
	scene_end(&scene);
}

static void test_there_is_no_file(void **state)
{
	struct service service;
	struct caller caller;
	json_t *reply;

	privileged = true;
	service_init_with(&service, &(struct query_limits){}, get_peer);
	caller = connect_caller(&service);
	reply = call(&caller, "Verify", "{}");
	assert_string_equal(json_string_value(json_object_get(reply, "error")),
			    "io.branchd.InternalError");
	json_decref(reply);
	caller_done(&caller);
	service_done(&service);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vacuum),
		cmocka_unit_test(test_what_is_refused),
		cmocka_unit_test(test_one_at_a_time),
		cmocka_unit_test(test_verify),
		cmocka_unit_test(test_who_verifies_goes),
		cmocka_unit_test(test_there_is_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
