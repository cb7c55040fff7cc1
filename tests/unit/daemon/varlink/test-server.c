/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The server as an honest caller sees it; test-server-attacks.c is for the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/varlink/call.h"
#include "daemon/varlink/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "common/util/cleanup.h"
#include "tests/support/varlink-caller.h"

struct service {
	sd_event *event;
	struct server *server;
	struct call *kept;
	unsigned int n_gone;
};

/* Echo(text): the text again. */
static int echo(struct call *call, json_t *parameters, void *userdata)
{
	json_t *text = json_object_get(parameters, "text");

	if (!json_is_string(text)) {
		call_invalid_parameter(call, "text");
		return 0;
	}
	return call_reply(call, json_pack("{sO}", "text", text), false);
}

/* Count(n): n replies if the caller wants more; else one. */
static int count(struct call *call, json_t *parameters, void *userdata)
{
	json_int_t n = json_integer_value(json_object_get(parameters, "n"));
	int r = 0;

	for (json_int_t i = 1; r == 0 && call_wants_more(call) && i < n; i++)
		r = call_reply(call, json_pack("{sI}", "i", i), true);
	return r ?: call_reply(call, json_pack("{sI}", "i", n), false);
}

static void gone(struct call *call, void *userdata)
{
	struct service *service = userdata;

	assert_ptr_equal(service->kept, call);
	service->kept = NULL;
	service->n_gone++;
}

static int keep(struct call *call, json_t *parameters, void *userdata)
{
	struct service *service = userdata;

	service->kept = call;
	call_on_gone(call, gone, service);
	return 0;
}

static int large(struct call *call, json_t *parameters, void *userdata)
{
	size_t n = (size_t)json_integer_value(json_object_get(parameters, "n"));
	char *text = malloc(n + 8);

	memset(text, 'x', n + 8);
	memcpy(text, "{\"x\":\"", 6);
	memcpy(text + n + 6, "\"}", 2);
	return call_reply_text(call, text, n + 8, false);
}

static int fail_always(struct call *call, json_t *parameters, void *userdata)
{
	return -ENOSPC;
}

static const struct server_method methods[] = {
	{ "io.test.Echo", echo },   { "io.test.Count", count },      { "io.test.Keep", keep },
	{ "io.test.Large", large }, { "io.test.Fail", fail_always },
};

static void service_init(struct service *service, const struct server_settings *more)
{
	struct server_settings settings = more ? *more : (struct server_settings){};
	struct fault fault = {};

	*service = (struct service){};
	settings.interface = "io.test";
	settings.description = "interface io.test\n";
	settings.methods = methods;
	settings.n_methods = ARRAY_SIZE(methods);
	settings.userdata = service;
	settings.group = (gid_t)-1;
	assert_true(sd_event_new(&service->event) >= 0);
	assert_int_equal(server_new(&service->server, service->event, -1, &settings, &fault), 0);
}

static void service_done(struct service *service)
{
	server_free(service->server);
	sd_event_unref(service->event);
}

static struct caller connect_caller(struct service *service)
{
	return caller_connect(service->server, service->event);
}

static void assert_reply(struct caller *caller, const char *call, const char *expected)
{
	const char *reply;

	caller_say(caller, call);
	reply = caller_hear(caller);
	assert_non_null(reply);
	assert_string_equal(reply, expected);
}

static void calls_are_answered(void **state)
{
	struct service service;
	struct caller caller;

	service_init(&service, NULL);
	caller = connect_caller(&service);
	assert_reply(&caller,
		     "{\"method\":\"io.test.Echo\",\"parameters\":{\"text\":\"caf\xc3\xa9\"}}",
		     "{\"parameters\":{\"text\":\"caf\xc3\xa9\"}}");
	/* "more" of what has but one reply; a member that is not known; null for not given */
	assert_reply(&caller,
		     "{\"method\":\"io.test.Count\",\"parameters\":null,\"more\":null,\"x\":1}",
		     "{\"parameters\":{\"i\":0}}");
	caller_done(&caller);
	service_done(&service);
}

static void errors_have_names_and_parameters(void **state)
{
	static const char *const calls[][2] = {
		{ "{\"method\":\"io.test.Echo\"}",
		  "{\"error\":\"org.varlink.service.InvalidParameter\","
		  "\"parameters\":{\"parameter\":\"text\"}}" },
		{ "{\"method\":\"io.test.Nothing\"}",
		  "{\"error\":\"org.varlink.service.MethodNotFound\","
		  "\"parameters\":{\"method\":\"io.test.Nothing\"}}" },
		{ "{\"method\":\"io.other.Echo\"}",
		  "{\"error\":\"org.varlink.service.InterfaceNotFound\","
		  "\"parameters\":{\"interface\":\"io.other\"}}" },
		{ "{\"method\":\"Echo\"}", "{\"error\":\"org.varlink.service.MethodNotFound\","
					   "\"parameters\":{\"method\":\"Echo\"}}" },
		{ "{\"method\":\"\"}", "{\"error\":\"org.varlink.service.MethodNotFound\","
				       "\"parameters\":{\"method\":\"\"}}" },
		{ "{\"method\":\"io.test.Echo\",\"upgrade\":true}",
		  "{\"error\":\"org.varlink.service.MethodNotImplemented\","
		  "\"parameters\":{\"method\":\"io.test.Echo\"}}" },
		{ "{\"method\":\"io.test.Fail\"}",
		  "{\"error\":\"io.test.InternalError\",\"parameters\":{\"errno\":\"ENOSPC\","
		  "\"message\":\"No space left on device\"}}" },
		{ "{\"method\":\"org.varlink.service.GetInfo\",\"parameters\":{\"x\":1}}",
		  "{\"error\":\"org.varlink.service.InvalidParameter\","
		  "\"parameters\":{\"parameter\":\"x\"}}" },
		{ "{\"method\":\"org.varlink.service.GetInterfaceDescription\"}",
		  "{\"error\":\"org.varlink.service.InvalidParameter\","
		  "\"parameters\":{\"parameter\":\"interface\"}}" },
		{ "{\"method\":\"org.varlink.service.GetInterfaceDescription\","
		  "\"parameters\":{\"interface\":\"io.other\"}}",
		  "{\"error\":\"org.varlink.service.InterfaceNotFound\","
		  "\"parameters\":{\"interface\":\"io.other\"}}" },
	};
	struct server_counts counts;
	struct service service;
	struct caller caller;

	service_init(&service, NULL);
	caller = connect_caller(&service);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		assert_reply(&caller, calls[i][0], calls[i][1]);
	server_get_counts(service.server, &counts);
	assert_int_equal(counts.calls, ARRAY_SIZE(calls));
	assert_int_equal(counts.errors, ARRAY_SIZE(calls));
	caller_done(&caller);
	service_done(&service);
}

static void it_describes_itself(void **state)
{
	struct service service;
	struct caller caller;
	json_t *reply, *interfaces;

	service_init(&service, NULL);
	caller = connect_caller(&service);
	reply = caller_call(&caller, "{\"method\":\"org.varlink.service.GetInfo\"}");
	interfaces = json_object_get(json_object_get(reply, "parameters"), "interfaces");
	assert_int_equal(json_array_size(interfaces), 2);
	assert_string_equal(json_string_value(json_array_get(interfaces, 1)), "io.test");
	json_decref(reply);
	assert_reply(&caller,
		     "{\"method\":\"org.varlink.service.GetInterfaceDescription\","
		     "\"parameters\":{\"interface\":\"io.test\"}}",
		     "{\"parameters\":{\"description\":\"interface io.test\\n\"}}");
	caller_done(&caller);
	service_done(&service);
}

static void pipelined_calls_are_answered_in_order(void **state)
{
	struct service service;
	struct caller caller;
	char text[128];

	service_init(&service, NULL);
	caller = connect_caller(&service);
	for (int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text),
			 "{\"method\":\"io.test.Echo\",\"parameters\":{\"text\":\"%d\"}}", i);
		caller_say(&caller, text);
	}
	for (int i = 0; i < 1000; i++) {
		const char *reply = caller_hear(&caller);

		snprintf(text, sizeof(text), "{\"parameters\":{\"text\":\"%d\"}}", i);
		assert_non_null(reply);
		assert_string_equal(reply, text);
	}
	caller_done(&caller);
	service_done(&service);
}

static void more_has_many_replies(void **state)
{
	struct service service;
	struct caller caller;

	service_init(&service, NULL);
	caller = connect_caller(&service);
	assert_reply(&caller,
		     "{\"method\":\"io.test.Count\",\"parameters\":{\"n\":3},\"more\":true}",
		     "{\"parameters\":{\"i\":1},\"continues\":true}");
	assert_string_equal(caller_hear(&caller), "{\"parameters\":{\"i\":2},\"continues\":true}");
	assert_string_equal(caller_hear(&caller), "{\"parameters\":{\"i\":3}}");
	assert_reply(&caller, "{\"method\":\"io.test.Count\",\"parameters\":{\"n\":3}}",
		     "{\"parameters\":{\"i\":3}}");
	caller_done(&caller);
	service_done(&service);
}

static void oneway_has_no_reply(void **state)
{
	struct service service;
	struct caller caller;

	service_init(&service, NULL);
	caller = connect_caller(&service);
	caller_say(&caller, "{\"method\":\"io.test.Fail\",\"oneway\":true}");
	caller_say(&caller, "{\"method\":\"io.test.Count\",\"oneway\":true}");
	caller_say(&caller, "{\"method\":\"io.test.Large\",\"oneway\":true}");
	assert_reply(&caller, "{\"method\":\"io.test.Count\"}", "{\"parameters\":{\"i\":0}}");
	caller_done(&caller);
	service_done(&service);
}

static void a_kept_call_is_answered_later(void **state)
{
	struct service service;
	struct caller caller, other;

	service_init(&service, NULL);
	caller = connect_caller(&service);
	other = connect_caller(&service);
	caller_say(&caller, "{\"method\":\"io.test.Keep\"}");
	caller_say(&caller, "{\"method\":\"io.test.Count\"}");
	assert_null(caller_hear_within(&caller, 20));
	assert_non_null(service.kept);
	assert_reply(&other, "{\"method\":\"io.test.Count\"}", "{\"parameters\":{\"i\":0}}");
	assert_int_equal(call_reply(service.kept, json_pack("{ss}", "late", "yes"), false), 0);
	assert_string_equal(caller_hear(&caller), "{\"parameters\":{\"late\":\"yes\"}}");
	assert_string_equal(caller_hear(&caller), "{\"parameters\":{\"i\":0}}");
	assert_int_equal(service.n_gone, 0);
	caller_done(&caller);
	caller_done(&other);
	service_done(&service);
}

static void who_keeps_a_call_is_told_when_the_caller_goes(void **state)
{
	struct service service;
	struct caller caller;

	service_init(&service, NULL);
	caller = connect_caller(&service);
	caller_say(&caller, "{\"method\":\"io.test.Keep\",\"more\":true}");
	caller_run(service.event, 0);
	assert_non_null(service.kept);
	caller_done(&caller);
	caller_run(service.event, 1000);
	assert_int_equal(service.n_gone, 1);

	/* the server going is the caller going */
	caller = connect_caller(&service);
	caller_say(&caller, "{\"method\":\"io.test.Keep\"}");
	caller_run(service.event, 0);
	assert_non_null(service.kept);
	service_done(&service);
	assert_int_equal(service.n_gone, 2);
	caller_done(&caller);
}

/* "printf ... | nc -U": who says all that is to be said can still hear. */
static void a_caller_who_ends_speaking_is_answered(void **state)
{
	struct service service;
	struct caller caller;

	service_init(&service, NULL);
	caller = connect_caller(&service);
	caller_say(&caller, "{\"method\":\"io.test.Count\"}");
	caller_say(&caller, "{\"method\":\"io.test.Large\",\"parameters\":{\"n\":3000000}}");
	caller_say(&caller, "{\"method\":\"io.test.Count\"}");
	shutdown(caller.fd, SHUT_WR);
	assert_string_equal(caller_hear(&caller), "{\"parameters\":{\"i\":0}}");
	assert_int_equal(strlen(caller_hear(&caller)), 3000000 + 8 + 15);
	assert_string_equal(caller_hear(&caller), "{\"parameters\":{\"i\":0}}");
	assert_true(caller_is_closed(&caller, 1000));
	caller_done(&caller);
	service_done(&service);
}

static void it_listens_on_a_path(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char directory[] = "/tmp/test-server-XXXXXX";
	struct server *server = NULL;
	struct fault fault = {};
	struct service service;
	struct caller caller;
	struct stat st;
	int fd, mine;

	service_init(&service, NULL);
	assert_non_null(mkdtemp(directory));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", directory);
	fd = server_listen(address.sun_path, (gid_t)-1, &fault);
	assert_true(fd >= 0);
	assert_int_equal(stat(address.sun_path, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0660);
	assert_int_equal(server_new(&server, service.event, fd,
				    &(struct server_settings){ .interface = "io.test",
							       .methods = methods,
							       .n_methods = ARRAY_SIZE(methods),
							       .group = (gid_t)-1 },
				    &fault),
			 0);

	mine = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(mine, (struct sockaddr *)&address, sizeof(address)), 0);
	caller_init(&caller, service.event, mine);
	assert_reply(&caller, "{\"method\":\"io.test.Count\"}", "{\"parameters\":{\"i\":0}}");

	/* not while somebody serves it; but what a server left that was killed goes */
	assert_int_equal(server_listen(address.sun_path, (gid_t)-1, &fault), -EADDRINUSE);
	server = server_free(server);
	assert_true(caller_is_closed(&caller, 1000));
	caller_done(&caller);
	fd = server_listen(address.sun_path, (gid_t)-1, &fault);
	assert_true(fd >= 0);
	close(fd);
	unlink(address.sun_path);

	/* nothing else is touched */
	fd = open(address.sun_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(fd);
	assert_int_equal(server_listen(address.sun_path, (gid_t)-1, &fault), -EEXIST);
	unlink(address.sun_path);
	rmdir(directory);
	service_done(&service);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_answered),
		cmocka_unit_test(errors_have_names_and_parameters),
		cmocka_unit_test(it_describes_itself),
		cmocka_unit_test(pipelined_calls_are_answered_in_order),
		cmocka_unit_test(more_has_many_replies),
		cmocka_unit_test(oneway_has_no_reply),
		cmocka_unit_test(a_kept_call_is_answered_later),
		cmocka_unit_test(who_keeps_a_call_is_told_when_the_caller_goes),
		cmocka_unit_test(a_caller_who_ends_speaking_is_answered),
		cmocka_unit_test(it_listens_on_a_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
