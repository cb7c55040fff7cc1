/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The methods on a real store with profiles made by hand, called over a socket. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/methods.h"

#include <errno.h>
#include <grp.h>
#include <stdio.h>
#include <time.h>

#include "common/profile/filter.h"
#include "common/profile/function-counts.h"
#include "common/profile/profile-json.h"
#include "common/util/cleanup.h"
#include "tests/support/caller.h"
#include "tests/support/made-profile.h"
#include "tests/support/random-profile.h"

#define START_US  1700000000000000ULL
#define LENGTH_US 10000000ULL
#define OTHER_UID 12345
#define OTHER_GID 54321

struct service {
	sd_event *event;
	struct namer *namer;
	struct archive *archive;
	struct methods *methods;
	struct server *server;
	unsigned int n_cuts;
	uint64_t part; /* the seed of the part to hand over when it is asked for; 0: none comes */
};

static void add_window(struct service *service, uint64_t seed, bool open, uint64_t n)
{
	struct collected collected = {
		.window = { .start_us = START_US + n * LENGTH_US,
			    .length_us = LENGTH_US,
			    .samples = seed,
			    .lost = 1,
			    .open = open,
			    .mode = "software" },
		.profile = random_profile(seed, 0),
	};
	struct fault fault = {};

	assert_int_equal(archive_add(service->archive, &collected, &fault), 0);
	assert_null(collected.profile);
}

static void on_cut(void *userdata)
{
	struct service *service = userdata;

	service->n_cuts++;
	if (service->part)
		add_window(service, service->part, true, 100);
}

static void on_get_status(struct status *status, void *userdata)
{
	struct service *service = userdata;

	server_get_counts(service->server, &status->server);
	snprintf(status->why_not, sizeof(status->why_not), "it is a test");
	status_add_problem(status, "");
	status_add_problem(status, "tests are problems");
}

static void service_init(struct service *service)
{
	struct server_settings settings = { .group = OTHER_GID };
	struct store_settings store_settings = {};
	struct methods_settings methods;
	struct store *store = NULL;
	struct fault fault = {};

	*service = (struct service){};
	assert_true(sd_event_new(&service->event) >= 0);
	assert_int_equal(store_open(&store, ":memory:", &store_settings, &fault), 0);
	assert_int_equal(namer_new(&service->namer, NULL), 0);
	assert_int_equal(archive_new(&service->archive, store, service->namer), 0);
	methods = (struct methods_settings){
		.event = service->event,
		.archive = service->archive,
		.cut = on_cut,
		.get_status = on_get_status,
		.userdata = service,
	};
	assert_int_equal(methods_new(&service->methods, &methods), 0);
	methods_fill_settings(service->methods, &settings);
	assert_int_equal(server_new(&service->server, service->event, -1, &settings, &fault), 0);
}

static void service_done(struct service *service)
{
	server_free(service->server);
	methods_free(service->methods);
	archive_free(service->archive);
	namer_free(service->namer);
	sd_event_unref(service->event);
}

static struct caller connect_caller(struct service *service)
{
	struct caller caller;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(server_add_connection(service->server, fds[0]), 0);
	caller_init(&caller, service->event, fds[1]);
	return caller;
}

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

static json_t *call(struct caller *caller, const char *method, const char *parameters)
{
	_cleanup_free_ char *text = NULL;
	json_t *reply;

	assert_true(asprintf(&text, "{\"method\":\"io.branchd.%s\",\"parameters\":%s}", method,
			     parameters) > 0);
	reply = caller_call(caller, text);
	assert_non_null(reply);
	return reply;
}

static void assert_error(struct caller *caller, const char *method, const char *parameters,
			 const char *expected)
{
	json_t *reply = call(caller, method, parameters);
	char *text = json_dumps(reply, JSON_COMPACT);

	assert_string_equal(text, expected);
	free(text);
	json_decref(reply);
}

/* The ids of the windows in a reply, as "[1,2,0]", in @ret. */
static void format_ids(const json_t *reply, char *ret, size_t size)
{
	json_t *windows = json_object_get(json_object_get(reply, "parameters"), "windows"), *window;
	size_t i, n = 0;

	assert_true(json_is_array(windows));
	*ret = '\0';
	json_array_foreach(windows, i, window)
		n += (size_t)snprintf(ret + n, size - n, "%s%d", i > 0 ? "," : "",
				      (int)json_integer_value(json_object_get(window, "id")));
}

static void assert_list(struct caller *caller, const char *parameters, const char *ids)
{
	json_t *reply = call(caller, "ListWindows", parameters);
	char text[256];

	format_ids(reply, text, sizeof(text));
	assert_string_equal(text, ids);
	json_decref(reply);
}

/* The profile of a reply, which is of the windows @ids. */
static struct profile *get_profile(struct caller *caller, const char *parameters, const char *ids)
{
	json_t *reply = call(caller, "GetProfile", parameters), *json;
	struct profile *profile = NULL;
	struct fault fault = {};
	char *text, list[256];

	format_ids(reply, list, sizeof(list));
	assert_string_equal(list, ids);
	json = json_object_get(json_object_get(reply, "parameters"), "profile");
	assert_non_null(json);
	text = json_dumps(json, 0);
	if (profile_read_json(&profile, text, strlen(text), &fault) < 0)
		fail_msg("%s", fault.text);
	free(text);
	json_decref(reply);
	return profile;
}

/*
 * The sum of the random profiles of @n seeds, those from @first on; named as the archive names them,
 * for some of their places may happen to be in this machine's kernel.
 */
static struct profile *sum_of(uint64_t first, size_t n)
{
	_cleanup_(namer_freep) struct namer *namer = NULL;
	struct profile *parts[64], *sum = NULL;

	assert_true(n <= ARRAY_SIZE(parts));
	assert_int_equal(namer_new(&namer, NULL), 0);
	for (size_t i = 0; i < n; i++) {
		parts[i] = random_profile(first + i, 0);
		assert_int_equal(namer_name(namer, parts[i]), 0);
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

	assert_error(&caller, "ListWindows", "{\"since_us\":-1}",
		     "{\"error\":\"org.varlink.service.InvalidParameter\","
		     "\"parameters\":{\"parameter\":\"since_us\"}}");
	assert_error(&caller, "ListWindows", "{\"since_us\":1.5}",
		     "{\"error\":\"org.varlink.service.InvalidParameter\","
		     "\"parameters\":{\"parameter\":\"since_us\"}}");
	assert_error(&caller, "ListWindows", "{\"sinc_us\":1}",
		     "{\"error\":\"org.varlink.service.InvalidParameter\","
		     "\"parameters\":{\"parameter\":\"sinc_us\"}}");
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

/* What was counted of one function, or of what of an object is in none. */
struct named {
	uint32_t object;
	uint64_t start; /* of the function; UINT64_MAX for none */
	uint64_t self, total, calls, runs;
};

#define MAX_NAMED 1000

struct names {
	struct named rows[MAX_NAMED];
	size_t n;
};

static void add_named(struct names *names, uint32_t object, uint64_t start,
		      const struct named *counts)
{
	struct named *row = names->rows;

	if (counts->self + counts->total + counts->calls + counts->runs == 0)
		return;
	while (row < names->rows + names->n && (row->object != object || row->start != start))
		row++;
	if (row == names->rows + names->n) {
		assert_true(++names->n < MAX_NAMED);
		*row = (struct named){ .object = object, .start = start };
	}
	row->self += counts->self;
	row->total += counts->total;
	row->calls += counts->calls;
	row->runs += counts->runs;
}

static int compare_named(const void *p, const void *q)
{
	const struct named *a = p, *b = q;

	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

/* The object's index in another profile. */
static uint32_t translate(const struct profile *from, const struct profile *to, uint32_t object)
{
	const struct profile_object *a, *b;

	if (object == PROFILE_NONE)
		return object;
	a = &from->objects[object];
	for (uint32_t i = 0; i < to->n_objects; i++) {
		b = &to->objects[i];
		if (a->n_build_id != b->n_build_id)
			continue;
		if (a->n_build_id > 0 ? memcmp(a->build_id, b->build_id, a->n_build_id) == 0 :
					a->kind == b->kind && a->inode == b->inode &&
						strcmp(a->path, b->path) == 0)
			return i;
	}
	fail_msg("an object is missing");
	return PROFILE_NONE;
}

/* By the functions that the window's own profile has. */
static void add_profile(struct names *names, const struct profile *to, const struct profile *p)
{
	struct function_counts counts;

	assert_int_equal(function_counts_init(&counts, p), 0);
	for (size_t i = 0; i < counts.n_rows; i++) {
		const struct function_count *count = &counts.rows[i];
		const struct function_tally *t = &count->tally;
		uint64_t start = count->function == PROFILE_NONE ?
					 UINT64_MAX :
					 p->functions[count->function].start;

		add_named(names, translate(p, to, count->at.object), start,
			  &(struct named){ .self = t->self,
					   .total = t->total,
					   .calls = t->calls,
					   .runs = t->runs });
	}
	function_counts_done(&counts);
}

static uint64_t number_of(const json_t *row, size_t i)
{
	return (uint64_t)json_integer_value(json_array_get(row, i));
}

static void add_part(struct names *names, const json_t *reply, size_t part)
{
	json_t *places = json_object_get(reply, "places"), *row;
	json_t *from = json_array_get(json_object_get(reply, "parts"), part);
	size_t i;

	json_array_foreach(json_object_get(from, "rows"), i, row) {
		const json_t *place = json_array_get(places, number_of(row, 0));
		const json_t *object = json_array_get(place, 0), *start = json_array_get(place, 1);

		assert_non_null(start);
		add_named(names,
			  json_is_null(object) ? PROFILE_NONE :
						 (uint32_t)json_integer_value(object),
			  json_is_null(start) ? UINT64_MAX :
						strtoull(json_string_value(start), NULL, 16),
			  &(struct named){ .self = number_of(row, 1),
					   .total = number_of(row, 2),
					   .calls = number_of(row, 3),
					   .runs = number_of(row, 4) });
	}
}

/* A part of GetFunctions's reply is what follows from the profiles of the windows with @n ids. */
static void assert_part(struct caller *caller, const json_t *reply, const struct profile *p,
			size_t part, const char *filter, const int *ids, size_t n)
{
	struct names *a = calloc(2, sizeof(*a)), *b = a + 1;
	json_t *from = json_array_get(json_object_get(reply, "parts"), part);
	uint64_t samples = 0;
	char text[128], list[16];

	assert_non_null(a);
	for (size_t i = 0; i < n; i++) {
		_cleanup_(profile_freep) struct profile *window = NULL;

		snprintf(text, sizeof(text), "{\"first\":%d%s}", ids[i], filter);
		snprintf(list, sizeof(list), "%d", ids[i]);
		window = get_profile(caller, text, list);
		add_profile(a, p, window);
		samples += window->counters.samples;
	}
	add_part(b, reply, part);
	qsort(a->rows, a->n, sizeof(*a->rows), compare_named);
	qsort(b->rows, b->n, sizeof(*b->rows), compare_named);
	assert_int_equal(a->n, b->n);
	assert_memory_equal(a->rows, b->rows, a->n * sizeof(*a->rows));
	assert_int_equal(json_integer_value(json_object_get(from, "samples")), samples);
	free(a);
}

static struct profile *read_names(const json_t *reply)
{
	char *text = json_dumps(json_object_get(reply, "profile"), 0);
	struct profile *profile = NULL;
	struct fault fault = {};

	assert_non_null(text);
	if (profile_read_json(&profile, text, strlen(text), &fault) < 0)
		fail_msg("%s", fault.text);
	free(text);
	return profile;
}

static void functions_are_those_of_the_profiles(void **state)
{
	_cleanup_(profile_freep) struct profile *names = NULL;
	struct service service;
	struct caller caller;
	json_t *answer, *reply;

	service_init(&service);
	service.part = 60;
	caller = connect_caller(&service);
	for (uint64_t i = 0; i < 6; i++)
		add_window(&service, i + 1, false, i);
	archive_set_open(service.archive, START_US + 6 * LENGTH_US, "software");
	/* six windows and the open one in three parts: 2, 2, 3 */
	answer = call(&caller, "GetFunctions", "{\"first\":1,\"last\":0,\"parts\":3}");
	service.part = 0; /* the open window stays as it was then, however long the rest takes */
	reply = json_object_get(answer, "parameters");
	assert_non_null(reply);
	names = read_names(reply);
	assert_int_equal(json_array_size(json_object_get(reply, "windows")), 7);
	assert_int_equal(json_array_size(json_object_get(reply, "parts")), 3);
	assert_part(&caller, reply, names, 0, "", (const int[]){ 1, 2 }, 2);
	assert_part(&caller, reply, names, 1, "", (const int[]){ 3, 4 }, 2);
	assert_part(&caller, reply, names, 2, "", (const int[]){ 5, 6, 0 }, 3);
	json_decref(answer);
	assert_error(&caller, "GetFunctions", "{\"first\":1,\"parts\":0}",
		     "{\"error\":\"org.varlink.service.InvalidParameter\","
		     "\"parameters\":{\"parameter\":\"parts\"}}");
	assert_error(&caller, "GetFunctions", "{\"first\":1,\"parts\":25}",
		     "{\"error\":\"org.varlink.service.InvalidParameter\","
		     "\"parameters\":{\"parameter\":\"parts\"}}");
	assert_error(&caller, "GetProfile", "{\"first\":1,\"parts\":2}",
		     "{\"error\":\"org.varlink.service.InvalidParameter\","
		     "\"parameters\":{\"parameter\":\"parts\"}}");
	caller_done(&caller);
	service_done(&service);
}

static void functions_of_some_processes(void **state)
{
	struct service service;
	struct caller caller;

	service_init(&service);
	caller = connect_caller(&service);
	for (uint64_t i = 0; i < 3; i++)
		add_window(&service, i + 1, false, i);
	for (int uid = 0; uid < 3; uid++) {
		_cleanup_(profile_freep) struct profile *names = NULL;
		json_t *answer, *reply;
		char text[128], filter[32];

		snprintf(filter, sizeof(filter), ",\"uid\":%d", uid);
		snprintf(text, sizeof(text), "{\"first\":1,\"last\":3%s}", filter);
		answer = call(&caller, "GetFunctions", text);
		reply = json_object_get(answer, "parameters");
		assert_non_null(reply);
		names = read_names(reply);
		assert_part(&caller, reply, names, 0, filter, (const int[]){ 1, 2, 3 }, 3);
		json_decref(answer);
	}
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
	assert_error(&caller, "GetProfile", "{\"first\":2,\"last\":1}",
		     "{\"error\":\"org.varlink.service.InvalidParameter\","
		     "\"parameters\":{\"parameter\":\"last\"}}");
	assert_error(&caller, "GetProfile", "{\"last\":1}",
		     "{\"error\":\"org.varlink.service.InvalidParameter\","
		     "\"parameters\":{\"parameter\":\"first\"}}");
	assert_error(&caller, "GetProfile", "{\"first\":0,\"last\":1}",
		     "{\"error\":\"org.varlink.service.InvalidParameter\","
		     "\"parameters\":{\"parameter\":\"last\"}}");
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
	filter.pid = 1;
	assert_profile(&caller, "{\"first\":1,\"pid\":1}", "1", filtered(sum_of(1, 1), &filter));
	filter = PROFILE_FILTER_INIT;
	filter.uid = 1;
	assert_profile(&caller, "{\"first\":1,\"uid\":1}", "1", filtered(sum_of(1, 1), &filter));
	filter = PROFILE_FILTER_INIT;
	filter.comm = "caf\xc3\xa9";
	filter.unit = "x";
	assert_profile(&caller, "{\"first\":1,\"comm\":\"caf\xc3\xa9\",\"unit\":\"x\"}", "1",
		       filtered(sum_of(1, 1), &filter));
	filter.unit = "y \xee\xbe\x80"; /* whose JSON is not its bytes */
	filter.comm = NULL;
	assert_profile(&caller, "{\"first\":1,\"unit\":\"y \xee\xbf\xae\xee\xbe\xbe\xee\xbe\x80\"}",
		       "1", filtered(sum_of(1, 1), &filter));
	assert_error(&caller, "GetProfile", "{\"first\":1,\"pid\":\"1\"}",
		     "{\"error\":\"org.varlink.service.InvalidParameter\","
		     "\"parameters\":{\"parameter\":\"pid\"}}");
	caller_done(&caller);
	service_done(&service);
}

/* A window with a process of root and one of the other user, which enters the kernel. */
static void add_two_users(struct service *service)
{
	struct collected collected = {
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
	for (int i = 0; i < 2; i++) {
		struct profile_stack stack = { .parent = PROFILE_NONE, .samples = 1 };

		process = profile_add_process(
			p, &(struct profile_process){ .pid = 10 + i,
						      .comm = i ? "other" : "root",
						      .uid = i ? OTHER_UID : 0,
						      .samples = 1 });
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
	struct profile *p = made_new();
	uint32_t object = made_object(p, "/bin/hot", 5), process = made_process(p, "hot", NULL);
	struct profile_function function = {
		.object = object, .start = 0x10, .size = 3, .name = "hot"
	};
	struct collected collected = {
		.window = { .start_us = START_US, .length_us = LENGTH_US, .mode = "software" },
	};
	struct fault fault = {};

	store_set_code_source(archive_get_store(service->archive), read_code, NULL);
	profile_add_function(p, &function);
	made_stack(p, process, PROFILE_NONE, object, 0x10, 5);
	collected.profile = made_sealed(p);
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
	assert_int_equal(profile->n_processes, 2);
	assert_int_equal(profile->n_stacks, 10);
	profile_free(profile);
	caller_done(&caller);
	if (connect_other(&service, &caller, &group)) {
		profile = get_profile(&caller, "{\"first\":1}", "1");
		assert_int_equal(profile->n_processes, 2);
		profile_free(profile);
		caller_done(&caller);
	}
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
	assert_error(&caller, "GetStatus", "{\"x\":0}",
		     "{\"error\":\"org.varlink.service.InvalidParameter\","
		     "\"parameters\":{\"parameter\":\"x\"}}");
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
		cmocka_unit_test(functions_are_those_of_the_profiles),
		cmocka_unit_test(functions_of_some_processes),
		cmocka_unit_test(a_window_that_is_not_there),
		cmocka_unit_test(the_open_window_is_its_parts),
		cmocka_unit_test(a_collector_that_is_silent_is_not_waited_for),
		cmocka_unit_test(callers_who_go_leave_nothing_behind),
		cmocka_unit_test(windows_are_followed),
		cmocka_unit_test(profiles_are_filtered),
		cmocka_unit_test(others_see_their_own_processes_only),
		cmocka_unit_test(code_that_is_kept),
		cmocka_unit_test(others_see_no_code),
		cmocka_unit_test(root_and_the_group_see_everything),
		cmocka_unit_test(the_status),
		cmocka_unit_test(the_description),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
