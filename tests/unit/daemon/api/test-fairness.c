/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Many users at once, who they are made up. One asks for all windows over all connections there may
 * be, others for one. What is counted are replies, not times.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/varlink/peer.h"
#include "tests/support/methods-service.h"

#define HOSTILE   1000
#define OTHER     2000
#define MEMBER    3000 /* of the group */
#define N_WINDOWS 40
#define N_CALLERS 16

#define ALL "{\"method\":\"io.branchd.GetProfile\",\"parameters\":{\"first\":1,\"last\":40}}"
#define ONE "{\"method\":\"io.branchd.GetProfile\",\"parameters\":{\"first\":1}}"
#define PARTS                                                                              \
	"{\"method\":\"io.branchd.GetFunctions\",\"parameters\":{\"first\":1,\"last\":40," \
	"\"parts\":24}}"
#define STATUS "{\"method\":\"io.branchd.GetStatus\"}"

static uid_t next_uid; /* of whoever connects next */

static int get_peer(struct peer *ret, int fd, gid_t group)
{
	*ret = (struct peer){ .uid = next_uid,
			      .privileged = next_uid == 0 || next_uid == MEMBER,
			      .is_root = next_uid == 0 };
	return 0;
}

static struct caller connect_as(struct service *service, uid_t uid)
{
	next_uid = uid;
	return connect_caller(service);
}

static void begin(struct service *service, const struct query_limits *limits)
{
	service_init_with(service, limits, get_peer);
	for (uint64_t i = 0; i < N_WINDOWS; i++)
		add_window(service, i + 1, false, i);
}

static void end(struct service *service)
{
	struct server_counts counts;

	caller_run(service->event, 0);
	server_get_counts(service->server, &counts);
	assert_int_equal(counts.open, 0);
	assert_int_equal(counts.pending_bytes, 0);
	service_done(service);
}

/* Counts the reply and says the same again: 1, or 0 if none was there yet. */
static unsigned int go_on(struct caller *caller, const char *text)
{
	char *reply;
	size_t n;

	while (caller_receive(caller))
		;
	if (framing_next(&caller->in, &reply, &n) <= 0)
		return 0;
	caller_say(caller, text);
	return 1;
}

/* How many replies all the hostile callers got before @other got the one to @text. */
static unsigned int flood_until(struct service *service, struct caller *hostile, const char *flood,
				struct caller *other, const char *text)
{
	unsigned int n = 0;
	char *reply;
	size_t n_bytes;

	caller_say(other, text);
	for (int i = 0; i < 1000000; i++) {
		sd_event_run(service->event, 1000);
		for (size_t k = 0; k < N_CALLERS; k++)
			n += go_on(&hostile[k], flood);
		caller_receive(other);
		if (framing_next(&other->in, &reply, &n_bytes) > 0) {
			assert_null(strstr(reply, "\"error\""));
			return n;
		}
	}
	fail_msg("no reply");
	return n;
}

static void flood(const char *text, const struct query_limits *limits, const uid_t uid)
{
	struct caller hostile[N_CALLERS], other;
	struct service service;
	unsigned int n = 0;

	begin(&service, limits);
	for (size_t i = 0; i < N_CALLERS; i++) {
		hostile[i] = connect_as(&service, HOSTILE);
		caller_say(&hostile[i], text);
	}
	other = connect_as(&service, uid);
	flood_until(&service, hostile, text, &other, STATUS);
	for (int i = 0; i < 5; i++) {
		/* no more than was under way, and one more */
		assert_true(flood_until(&service, hostile, text, &other, STATUS) <= 2);
		n += flood_until(&service, hostile, text, &other, ONE);
	}
	assert_true(n <= 15);
	for (size_t i = 0; i < N_CALLERS; i++)
		caller_done(&hostile[i]);
	caller_done(&other);
	end(&service);
}

static void one_query_among_many(void **state)
{
	flood(ALL, &(struct query_limits){}, OTHER);
	flood(ALL, &(struct query_limits){}, 0);
}

/* Every merge and every reply is made in a thread. */
static void in_threads(void **state)
{
	flood(ALL, &(struct query_limits){ .rows_at_once = 1 }, OTHER);
	flood(PARTS, &(struct query_limits){ .rows_at_once = 1 }, OTHER);
}

/* In a thread or not, the reply is the same. */
static void a_thread_makes_the_same(void **state)
{
	static const char *const calls[] = { ALL, PARTS, ONE };
	char *replies[ARRAY_SIZE(calls)];

	for (int round = 0; round < 2; round++) {
		const struct query_limits limits = { .rows_at_once = round ? 1 : SIZE_MAX };
		struct service service;
		struct caller caller;

		begin(&service, &limits);
		caller = connect_as(&service, round ? MEMBER : 0);
		for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
			json_t *reply = caller_call(&caller, calls[i]);
			char *text = json_dumps(reply, JSON_COMPACT);

			json_decref(reply);
			if (round == 0) {
				replies[i] = text;
				continue;
			}
			assert_string_equal(text, replies[i]);
			free(text);
			free(replies[i]);
		}
		caller_done(&caller);
		end(&service);
	}
}

/* Those who go take their queries with them, whether these wait, work, or are in a thread. */
static void gone_callers(void **state)
{
	for (int n_runs = 0; n_runs < 12; n_runs++) {
		const struct query_limits limits = { .rows_at_once = n_runs % 2 ? 1 : 0 };
		struct caller hostile[N_CALLERS], other;
		struct service service;

		begin(&service, &limits);
		for (size_t i = 0; i < N_CALLERS; i++) {
			hostile[i] = connect_as(&service, i % 2 ? HOSTILE : OTHER);
			caller_say(&hostile[i], ALL);
		}
		for (int i = 0; i < n_runs; i++)
			sd_event_run(service.event, 0);
		for (size_t i = 0; i < N_CALLERS; i++)
			caller_done(&hostile[i]);
		other = connect_as(&service, OTHER);
		caller_say(&other, ONE);
		assert_non_null(caller_hear(&other));
		caller_done(&other);
		if (n_runs < 8)
			for (int i = 0; i < 100; i++)
				caller_run(service.event, 10);
		else
			caller_run(service.event, 0);
		end(&service);
	}
}

static void assert_says(struct caller *caller, const char *text, const char *error)
{
	json_t *reply = caller_call(caller, text);

	assert_non_null(reply);
	assert_string_equal(json_string_value(json_object_get(reply, "error")) ?: "", error);
	json_decref(reply);
}

/* Its memory and time are limited, more so for unprivileged users; the next call is served. */
static void too_expensive(void **state)
{
	const struct query_limits small = { .max_user_bytes = 1000 };
	const struct query_limits smaller = { .max_bytes = 1000, .max_user_bytes = 1 };
	struct service service;
	struct caller user, root;

	begin(&service, &small);
	user = connect_as(&service, OTHER);
	root = connect_as(&service, 0);
	assert_says(&root, ALL, "");
	assert_says(&user, PARTS, "");
	assert_says(&root, ALL, "");
	caller_done(&user);
	caller_done(&root);
	end(&service);

	begin(&service, &smaller);
	root = connect_as(&service, 0);
	assert_says(&root, ALL, "io.branchd.TooExpensive");
	assert_says(&root, STATUS, "");
	caller_done(&root);
	end(&service);
}

/* Whose objects are not named concerns them and the privileged. */
static void paths_are_for_the_privileged(void **state)
{
	struct service service;

	begin(&service, &(struct query_limits){});
	for (int round = 0; round < 2; round++) {
		struct caller caller = connect_as(&service, round ? OTHER : MEMBER);
		json_t *reply = caller_call(&caller, STATUS);
		json_t *status = json_object_get(reply, "parameters");
		json_t *naming = json_object_get(status, "naming");
		json_t *opener = json_object_get(json_object_get(status, "helpers"), "opener");

		assert_int_equal(json_array_size(json_object_get(naming, "refused")),
				 round ? 0 : STATUS_MAX_REFUSED);
		assert_int_equal(json_integer_value(json_object_get(opener, "failed")), 3);
		json_decref(reply);
		caller_done(&caller);
	}
	end(&service);
}

/* How many of @n connections of that user are admitted. */
static unsigned int count_admitted(struct service *service, uid_t uid, unsigned int n, int *fds)
{
	unsigned int n_admitted = 0;

	next_uid = uid;
	for (unsigned int i = 0; i < n; i++) {
		int pair[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
		n_admitted += server_add_connection(service->server, pair[0]) == 0;
		fds[i] = pair[1];
	}
	return n_admitted;
}

static void connections_of_each(void **state)
{
	struct service service;
	int fds[10][200];

	begin(&service, &(struct query_limits){});
	/* each user a few, all together three quarters */
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(count_admitted(&service, HOSTILE + (uid_t)i, 200, fds[i]),
				 i < 6 ? 16 : 0);
	/* the group all but root's share */
	assert_int_equal(count_admitted(&service, MEMBER, 200, fds[7]), 24);
	assert_int_equal(count_admitted(&service, 0, 200, fds[8]), 8);
	for (size_t i = 0; i < 9; i++)
		for (size_t k = 0; k < 200; k++)
			close(fds[i][k]);
	caller_run(service.event, 0);
	/* a member alone leaves half of them */
	assert_int_equal(count_admitted(&service, MEMBER, 200, fds[9]), 64);
	for (size_t k = 0; k < 200; k++)
		close(fds[9][k]);
	end(&service);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_query_among_many),
		cmocka_unit_test(in_threads),
		cmocka_unit_test(a_thread_makes_the_same),
		cmocka_unit_test(gone_callers),
		cmocka_unit_test(too_expensive),
		cmocka_unit_test(connections_of_each),
		cmocka_unit_test(paths_are_for_the_privileged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
