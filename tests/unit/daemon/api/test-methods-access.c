/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who sees what: callers of other users, of the group, and root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <grp.h>

#include "tests/support/methods-service.h"
#include "tests/support/profile-fixture.h"

#define OTHER_UID 12345

/* A caller of another user; false where this process may not make one. */
static bool connect_other(struct service *service, struct caller *ret, const gid_t *group)
{
	int fds[2];

	if (geteuid() != 0) {
		print_message("not root: callers of other users are left out\n");
		return false;
	}
	assert_int_equal(setgroups(group ? 1 : 0, group), 0);
	assert_int_equal(seteuid(OTHER_UID), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(server_add_connection(service->server, fds[0]), 0);
	caller_init(ret, service->event, fds[1]);
	return true;
}

/* A window with a process of root and one of the other user, which enters the kernel. */
static void add_two_users(struct service *service)
{
	struct window_profile collected = {
		.window = { .start_us = START_US, .length_us = LENGTH_US, .mode = "software" }
	};
	struct fault fault = {};
	struct profile *p = NULL;
	int64_t file, kernel, process;

	assert_int_equal(profile_new(&p), 0);
	file = profile_add_object(p, &(struct profile_object){ .path = "/bin/x", .inode = 1 });
	kernel = profile_add_object(p, &(struct profile_object){ .kind = OBJECT_KERNEL,
								 .path = "[kernel]",
								 .base = 0xffffffff9a000000 });
	/* the last is a setuid program of that user: not for their eyes */
	for (int i = 0; i < 3; i++) {
		struct profile_stack stack = { .parent = PROFILE_NONE, .samples = 1 };

		process = profile_add_process(
			p, &(struct profile_process){ .pid = 10 + i,
						      .comm = i ? "other" : "root",
						      .uid = i ? OTHER_UID : 0,
						      .restricted = i == 2,
						      .samples = 1 });
		if (i == 2)
			file = profile_add_object(
				p, &(struct profile_object){ .path = "/bin/su", .inode = 2 });
		stack.process = (uint32_t)process;
		stack.frame = (struct location){ (uint32_t)file, 0x1000 };
		stack.parent = (uint32_t)profile_add_stack(p, &stack);
		stack.frame = (struct location){ (uint32_t)kernel, 0x2000 };
		profile_add_stack(p, &stack);
		for (uint64_t k = 0; k < 3; k++) {
			stack.frame = (struct location){ PROFILE_NONE, 0xffffffffc0001000 - k };
			profile_add_stack(p, &stack);
		}
	}
	collected.profile = p;
	assert_int_equal(archive_add(service->archive, &collected, &fault), 0);
}

static void others_see_their_own_processes_only(void **state)
{
	struct profile *profile;
	struct service service;
	struct caller caller;
	json_t *reply;

	service_init(&service);
	add_two_users(&service);
	if (!connect_other(&service, &caller, NULL)) {
		service_done(&service);
		return;
	}
	profile = get_profile(&caller, "{\"first\":1}", "1");
	assert_int_equal(profile->n_processes, 1);
	assert_int_equal(profile->processes[0].uid, OTHER_UID);
	assert_int_equal(profile->processes[0].pid, 11);
	assert_int_equal(profile->counters.samples, 5);
	/* not where the kernel is: three addresses have become one that says nothing */
	assert_int_equal(profile->n_objects, 2);
	for (size_t i = 0; i < profile->n_objects; i++)
		assert_int_equal(profile->objects[i].base, 0);
	assert_int_equal(profile->n_stacks, 3);
	for (size_t i = 0; i < profile->n_stacks; i++)
		assert_true(profile->stacks[i].frame.offset <= 1ULL << 63);
	profile_free(profile);

	profile = get_profile(&caller, "{\"first\":1,\"pid\":10}", "1");
	assert_int_equal(profile->n_stacks, 0);
	profile_free(profile);
	profile = get_profile(&caller, "{\"first\":1,\"uid\":12345}", "1");
	assert_int_equal(profile->n_processes, 1);
	profile_free(profile);
	assert_error(&caller, "GetProfile", "{\"first\":1,\"uid\":0}",
		     "{\"error\":\"org.varlink.service.PermissionDenied\"}");
	assert_error(&caller, "GetProfile", "{\"first\":1,\"uids\":\"12345,0\"}",
		     "{\"error\":\"org.varlink.service.PermissionDenied\"}");
	reply = call(&caller, "GetStatus", "{}");
	assert_true(
		json_is_false(json_object_get(json_object_get(reply, "parameters"), "privileged")));
	json_decref(reply);
	caller_done(&caller);
	service_done(&service);
}

static int read_code(const struct profile *profile, const struct profile_function *function,
		     void *ret, size_t n, uint16_t *ret_machine, void *userdata)
{
	memset(ret, 0xc3, n);
	*ret_machine = 62;
	return (int)n;
}

/* A window with a function of 3 bytes at 0x10 of the file with the build-id 0500... */
static void add_hot_function(struct service *service)
{
	struct profile *p = fixture_new();
	uint32_t object = fixture_object(p, "/bin/hot", 5),
		 process = fixture_process(p, "hot", NULL);
	struct profile_function function = {
		.object = object, .start = 0x10, .size = 3, .name = "hot"
	};
	struct window_profile collected = {
		.window = { .start_us = START_US, .length_us = LENGTH_US, .mode = "software" },
	};
	struct fault fault = {};

	store_set_code_source(archive_get_store(service->archive), read_code, NULL);
	profile_add_function(p, &function);
	fixture_stack(p, process, PROFILE_NONE, object, 0x10, 5);
	collected.profile = fixture_finalized(p);
	assert_int_equal(archive_add(service->archive, &collected, &fault), 0);
}

#define HOT "\"build_id\":\"0500000000000000000000000000000000000000\""

static void code_that_is_kept(void **state)
{
	static const char *const invalid[] = {
		"{\"start\":16}",
		"{" HOT "}",
		"{" HOT ",\"start\":-1}",
		"{" HOT ",\"start\":\"0x10\"}",
		"{\"build_id\":\"05f\",\"start\":16}",
		"{\"build_id\":\"0x\",\"start\":16}",
		"{\"build_id\":\"000000000000000000000000000000000000000000\",\"start\":16}",
	};
	struct service service;
	struct caller caller;
	json_t *reply;

	service_init(&service);
	add_hot_function(&service);
	caller = connect_caller(&service);
	assert_error(&caller, "GetCode", "{" HOT ",\"start\":16}",
		     "{\"parameters\":{\"machine\":62,\"code\":\"c3c3c3\"}}");
	assert_error(&caller, "GetCode", "{" HOT ",\"start\":17}",
		     "{\"error\":\"io.branchd.NoSuchCode\"}");
	/* of a file that somebody but root may write */
	assert_error(&caller, "GetCode", "{" HOT ",\"start\":16,\"ctime_ns\":1}",
		     "{\"error\":\"io.branchd.NoSuchCode\"}");
	for (size_t i = 0; i < ARRAY_SIZE(invalid); i++) {
		reply = call(&caller, "GetCode", invalid[i]);
		assert_string_equal(json_string_value(json_object_get(reply, "error")),
				    "org.varlink.service.InvalidParameter");
		json_decref(reply);
	}
	caller_done(&caller);
	service_done(&service);
}

static void others_see_no_code(void **state)
{
	struct service service;
	struct caller caller;

	service_init(&service);
	add_hot_function(&service);
	if (connect_other(&service, &caller, NULL)) {
		assert_error(&caller, "GetCode", "{" HOT ",\"start\":16}",
			     "{\"error\":\"org.varlink.service.PermissionDenied\"}");
		caller_done(&caller);
	}
	service_done(&service);
}

static void root_and_the_group_see_everything(void **state)
{
	const gid_t group = OTHER_GID;
	struct profile *profile;
	struct service service;
	struct caller caller;

	service_init(&service);
	add_two_users(&service);
	caller = connect_caller(&service);
	profile = get_profile(&caller, "{\"first\":1}", "1");
	assert_int_equal(profile->n_processes, 3);
	assert_int_equal(profile->n_stacks, 15);
	profile_free(profile);
	caller_done(&caller);
	if (connect_other(&service, &caller, &group)) {
		profile = get_profile(&caller, "{\"first\":1}", "1");
		assert_int_equal(profile->n_processes, 3);
		profile_free(profile);
		caller_done(&caller);
	}
	service_done(&service);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_see_their_own_processes_only),
		cmocka_unit_test(code_that_is_kept),
		cmocka_unit_test(others_see_no_code),
		cmocka_unit_test(root_and_the_group_see_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
