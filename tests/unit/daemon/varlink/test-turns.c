/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who gets the next turn, by a clock made up: what is counted are turns, not times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "daemon/varlink/server-settings.h"
#include "daemon/varlink/turns.h"

#define MS 1000000ull

static uint64_t now_ns;     /* of the clock */
static struct turns *turns; /* of the test in work */
static sd_event *event;
static char order[1024]; /* the names of those who had turns */

/* Someone with work of that cost, over and over again if it is @endless. */
struct worker {
	struct turn turn;
	char name;
	uint64_t cost_ns;
	bool endless;
	unsigned int n_turns;
};

static uint64_t get_cpu_ns(void)
{
	return now_ns;
}

static void on_turn(struct turn *turn)
{
	struct worker *worker = container_of(turn, struct worker, turn);
	size_t n = strlen(order);

	now_ns += worker->cost_ns;
	worker->n_turns++;
	if (n + 1 < sizeof(order))
		order[n] = worker->name;
	if (worker->endless)
		turns_wait(turns, turn);
}

static struct worker make_worker(char name, uid_t uid, uint64_t cost_ns, bool endless)
{
	return (struct worker){ .turn = { .uid = uid, .run = on_turn },
				.name = name,
				.cost_ns = cost_ns,
				.endless = endless };
}

static int setup(void **state)
{
	struct turns_settings settings = { .cpu_ns = get_cpu_ns };

	memset(order, 0, sizeof(order));
	assert_true(sd_event_new(&event) >= 0);
	settings.event = event;
	return turns_new(&turns, &settings);
}

static int teardown(void **state)
{
	turns = turns_free(turns);
	event = sd_event_unref(event);
	return 0;
}

static void run(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		assert_true(sd_event_run(event, 0) > 0);
}

static void run_all(void)
{
	while (sd_event_run(event, 0) > 0)
		;
}

static void of_one_user_the_first_comes_first(void **state)
{
	struct worker a = make_worker('a', 1, MS, false), b = make_worker('b', 1, MS, false),
		      c = make_worker('c', 1, MS, false);

	turns_wait(turns, &a.turn);
	turns_wait(turns, &b.turn);
	turns_wait(turns, &c.turn);
	turns_wait(turns, &a.turn); /* it waits already */
	run_all();
	assert_string_equal(order, "abc");
}

static void users_take_turns(void **state)
{
	struct worker hostile[5], other = make_worker('o', 2, MS, false);

	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		hostile[i] = make_worker('h', 1, MS, false);
		turns_wait(turns, &hostile[i].turn);
	}
	turns_wait(turns, &other.turn);
	run_all();
	assert_string_equal(order, "hohhhh");
}

/* By CPU time, not by number: cheap calls do not wait for as many expensive ones. */
static void who_has_used_more_waits(void **state)
{
	struct worker hostile[10], other = make_worker('o', 2, MS, true);
	unsigned int n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
		hostile[i] = make_worker('h', 1, 50 * MS, true);
		turns_wait(turns, &hostile[i].turn);
	}
	turns_wait(turns, &other.turn);
	run(1020);
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++)
		n += hostile[i].n_turns;
	assert_in_range(n, 19, 21);
	assert_int_equal(other.n_turns, 1020 - n);
	for (size_t i = 0; i < ARRAY_SIZE(hostile); i++)
		turns_leave(turns, &hostile[i].turn);
	turns_leave(turns, &other.turn);
}

/* One that comes late is next, but gets no more than the others from then on. */
static void time_is_not_saved_up(void **state)
{
	struct worker a = make_worker('a', 1, MS, true), b = make_worker('b', 2, MS, true);

	turns_wait(turns, &a.turn);
	run(1000);
	memset(order, 0, sizeof(order));
	turns_wait(turns, &b.turn);
	run(8);
	assert_true(strcmp(order, "babababa") == 0 || strcmp(order, "abababab") == 0);
	turns_leave(turns, &a.turn);
	turns_leave(turns, &b.turn);
}

/* Going and coming back does not help one who has used much, while others wait. */
static void leaving_does_not_help(void **state)
{
	struct worker a = make_worker('a', 1, 20 * MS, false), b = make_worker('b', 2, MS, true);

	turns_wait(turns, &b.turn);
	turns_wait(turns, &a.turn);
	run(2);
	memset(order, 0, sizeof(order));
	for (int i = 0; i < 10; i++) {
		turns_wait(turns, &a.turn);
		run(1);
		turns_leave(turns, &a.turn);
	}
	assert_string_equal(order, "bbbbbbbbbb");
	turns_leave(turns, &b.turn);
}

/* Time used in a thread counts as that of turns. */
static void time_elsewhere_counts(void **state)
{
	struct worker a = make_worker('a', 1, MS, true), b = make_worker('b', 2, MS, true);

	turns_wait(turns, &a.turn);
	turns_wait(turns, &b.turn);
	turns_charge(turns, 1, 10 * MS);
	run(10);
	assert_int_equal(a.n_turns, 0);
	run(10);
	assert_in_range(a.n_turns, 4, 6);
	turns_leave(turns, &a.turn);
	turns_leave(turns, &b.turn);
}

static void one_that_left_has_no_turn(void **state)
{
	struct worker a = make_worker('a', 1, MS, false), b = make_worker('b', 1, MS, false);

	turns_wait(turns, &a.turn);
	turns_wait(turns, &b.turn);
	turns_leave(turns, &a.turn);
	turns_leave(turns, &a.turn);
	run_all();
	assert_string_equal(order, "b");
}

/* More than are known at once. */
static void a_thousand_users(void **state)
{
	static struct worker workers[1000];

	for (int round = 1; round <= 3; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(workers); i++) {
			if (round == 1)
				workers[i] = make_worker('w', (uid_t)i, MS, false);
			turns_wait(turns, &workers[i].turn);
		}
		run_all();
		for (size_t i = 0; i < ARRAY_SIZE(workers); i++)
			assert_int_equal(workers[i].n_turns, round);
	}
}

static int on_other(sd_event_source *source, void *userdata)
{
	unsigned int *n = userdata;

	++*n;
	turns_wait_longer(turns);
	return 0;
}

/* Receiving goes before turns, but a flood of it does not keep them from coming. */
static void a_flood_does_not_starve_turns(void **state)
{
	struct worker a = make_worker('a', 1, MS, true);
	sd_event_source *other = NULL;
	unsigned int n = 0;

	assert_true(sd_event_add_defer(event, &other, on_other, &n) >= 0);
	sd_event_source_set_priority(other, SERVER_PRIORITY);
	sd_event_source_set_enabled(other, SD_EVENT_ON);
	turns_wait(turns, &a.turn);
	run(10);
	assert_int_equal(a.n_turns, 0);
	run(10000);
	assert_in_range(a.n_turns, 10, 1000);
	assert_in_range(n, 9000, 10000);
	sd_event_source_disable_unref(other);
	turns_leave(turns, &a.turn);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(of_one_user_the_first_comes_first),
		TEST(users_take_turns),
		TEST(who_has_used_more_waits),
		TEST(time_is_not_saved_up),
		TEST(leaving_does_not_help),
		TEST(time_elsewhere_counts),
		TEST(one_that_left_has_no_turn),
		TEST(a_thousand_users),
		TEST(a_flood_does_not_starve_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
