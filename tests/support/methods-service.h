/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of the methods: a real store and server, windows of made profiles, and callers over a
 * socket. */
#pragma once

#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/json/profile-json.h"
#include "common/util/cleanup.h"
#include "daemon/api/methods.h"
#include "tests/support/random-profile.h"
#include "tests/support/varlink-caller.h"

#define START_US  1700000000000000ULL
#define LENGTH_US 10000000ULL
#define OTHER_GID 54321

struct service {
	sd_event *event;
	struct archive *archive;
	struct methods *methods;
	struct server *server;
	bool keeps_processes;
	unsigned int n_cuts;
	uint64_t part; /* the seed of the part to hand over when it is asked for; 0: none comes */
};

static inline void add_window(struct service *service, uint64_t seed, bool open, uint64_t n)
{
	struct window_profile collected = {
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

static inline void on_cut(void *userdata)
{
	struct service *service = userdata;

	service->n_cuts++;
	if (service->part)
		add_window(service, service->part, true, 100);
}

static inline void on_keep_processes(bool keep, void *userdata)
{
	struct service *service = userdata;

	service->keeps_processes = keep;
}

static inline void on_get_status(struct status *status, void *userdata)
{
	struct service *service = userdata;

	server_get_counts(service->server, &status->server);
	snprintf(status->why_not, sizeof(status->why_not), "it is a test");
	status->opener.failed = 3;
	for (int i = 0; i < 20; i++)
		status_add_refused(status, "/home/x/program", "it took too long");
	status_add_problem(status, "");
	status_add_problem(status, "tests are problems");
}

/* With this database, these limits of queries, and another answer to who a caller is. */
static inline void service_init_at(struct service *service, const char *path,
				   const struct query_limits *limits,
				   int (*get_peer)(struct peer *ret, int fd, gid_t group))
{
	struct server_settings settings = { .group = OTHER_GID, .get_peer = get_peer };
	struct store_settings store_settings = {};
	struct methods_settings methods;
	struct store *store = NULL;
	struct fault fault = {};

	*service = (struct service){};
	assert_true(sd_event_new(&service->event) >= 0);
	assert_int_equal(store_open(&store, path, &store_settings, &fault), 0);
	assert_int_equal(archive_new(&service->archive, store), 0);
	methods = (struct methods_settings){
		.event = service->event,
		.archive = service->archive,
		.cut = on_cut,
		.get_status = on_get_status,
		.keep_processes = on_keep_processes,
		.limits = *limits,
		.userdata = service,
	};
	assert_int_equal(methods_new(&service->methods, &methods), 0);
	methods_fill_settings(service->methods, &settings);
	assert_int_equal(server_new(&service->server, service->event, -1, &settings, &fault), 0);
}

static inline void service_init_with(struct service *service, const struct query_limits *limits,
				     int (*get_peer)(struct peer *ret, int fd, gid_t group))
{
	service_init_at(service, ":memory:", limits, get_peer);
}

static inline void service_init(struct service *service)
{
	service_init_with(service, &(struct query_limits){}, NULL);
}

static inline void service_done(struct service *service)
{
	server_free(service->server);
	methods_free(service->methods);
	archive_free(service->archive);
	sd_event_unref(service->event);
}

static inline struct caller connect_caller(struct service *service)
{
	return caller_connect(service->server, service->event);
}

static inline json_t *call(struct caller *caller, const char *method, const char *parameters)
{
	_cleanup_free_ char *text = NULL;
	json_t *reply;

	assert_true(asprintf(&text, "{\"method\":\"io.branchd.%s\",\"parameters\":%s}", method,
			     parameters) > 0);
	reply = caller_call(caller, text);
	assert_non_null(reply);
	return reply;
}

static inline void assert_error(struct caller *caller, const char *method, const char *parameters,
				const char *expected)
{
	json_t *reply = call(caller, method, parameters);
	char *text = json_dumps(reply, JSON_COMPACT);

	assert_string_equal(text, expected);
	free(text);
	json_decref(reply);
}

static inline void assert_refused(struct caller *caller, const char *method, const char *parameters,
				  const char *refused)
{
	_cleanup_free_ char *expected = NULL;

	assert_true(asprintf(&expected,
			     "{\"error\":\"org.varlink.service.InvalidParameter\","
			     "\"parameters\":{\"parameter\":\"%s\"}}",
			     refused) > 0);
	assert_error(caller, method, parameters, expected);
}

/* The ids of the windows in a reply, as "[1,2,0]", in @ret. */
static inline void format_ids(const json_t *reply, char *ret, size_t size)
{
	json_t *windows = json_object_get(json_object_get(reply, "parameters"), "windows"), *window;
	size_t i, n = 0;

	assert_true(json_is_array(windows));
	*ret = '\0';
	json_array_foreach(windows, i, window)
		n += (size_t)snprintf(ret + n, size - n, "%s%d", i > 0 ? "," : "",
				      (int)json_integer_value(json_object_get(window, "id")));
}

/* The profile of the parameters of a reply. */
static inline struct profile *read_profile(const json_t *parameters)
{
	json_t *json = json_object_get(parameters, "profile");
	struct profile *profile = NULL;
	struct fault fault = {};
	char *text;

	assert_non_null(json);
	text = json_dumps(json, 0);
	assert_non_null(text);
	if (profile_json_read(&profile, text, strlen(text), &fault) < 0)
		fail_msg("%s", fault.text);
	free(text);
	return profile;
}

/* The profile of a reply, which is of the windows @ids. */
static inline struct profile *get_profile(struct caller *caller, const char *parameters,
					  const char *ids)
{
	json_t *reply = call(caller, "GetProfile", parameters);
	struct profile *profile;
	char list[256];

	format_ids(reply, list, sizeof(list));
	assert_string_equal(list, ids);
	profile = read_profile(json_object_get(reply, "parameters"));
	json_decref(reply);
	return profile;
}
