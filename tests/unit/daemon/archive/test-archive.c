/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Windows that cannot be stored, and how often that is tried. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/archive/archive.h"
#include "tests/support/random-profile.h"
#include "tests/support/temp-store.h"

#define WINDOW_US 10000000

struct keeping {
	struct temp_store stored;
	struct archive *archive;
	uint64_t n_windows; /* handed over */
};

static int set_up(void **state)
{
	struct keeping *k = calloc(1, sizeof(*k));

	assert_non_null(k);
	signal(SIGXFSZ, SIG_IGN);
	temp_store_init(&k->stored);
	assert_int_equal(archive_new(&k->archive, temp_store_open(k->stored.path, 0)), 0);
	*state = k;
	return 0;
}

static int tear_down(void **state)
{
	struct keeping *k = *state;

	archive_free(k->archive);
	temp_store_done(&k->stored);
	free(k);
	return 0;
}

/* A limit of the size of files is what a full disk is, without being root. */
static void fill_the_disk(bool full)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = full ? 1 : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The next window, of one sample more than the one before. */
static int add(struct keeping *k)
{
	struct window_profile c = {
		.window = { .start_us = (1 + k->n_windows) * WINDOW_US,
			    .length_us = WINDOW_US,
			    .samples = ++k->n_windows,
			    .mode = "software" },
		.profile = random_profile(1, 0),
	};
	struct fault fault = {};
	int r = archive_add(k->archive, &c, &fault);

	assert_null(c.profile);
	assert_int_equal(r < 0, fault.text[0] != '\0');
	return r;
}

static struct archive_status status_of(const struct keeping *k)
{
	struct archive_status status;

	archive_get_status(k->archive, &status);
	return status;
}

static int on_window(const struct window *window, void *userdata)
{
	*(struct window *)userdata = *window;
	return 0;
}

static struct window only_window(const struct keeping *k)
{
	struct window window = {};
	struct fault fault = {};
	struct store *store = archive_get_store(k->archive);

	assert_int_equal(store_for_each(store, 0, UINT64_MAX, on_window, &window, &fault), 0);
	assert_int_equal(window.id, 1);
	return window;
}

/* How many more have been handed over when it is tried again, after it was just tried. */
static uint64_t pause_of(struct keeping *k)
{
	uint64_t n = 1;

	while (add(k) == -EAGAIN)
		n++;
	return n;
}

static void test_ever_more_windows_between_tries(void **state)
{
	static const uint64_t pauses[] = { 1, 2, 4, 8, 16, 30, 30 };
	struct keeping *k = *state;

	fill_the_disk(true);
	assert_int_not_equal(add(k), -EAGAIN);
	for (size_t i = 0; i < ARRAY_SIZE(pauses); i++)
		assert_int_equal(pause_of(k), pauses[i]);
	assert_int_equal(status_of(k).waiting, k->n_windows);
	assert_int_equal(status_of(k).given_up, 0);
	fill_the_disk(false);
}

static void test_all_is_stored_as_one_when_there_is_space(void **state)
{
	struct keeping *k = *state;
	struct window window;

	fill_the_disk(true);
	for (int i = 0; i < 5; i++)
		assert_true(add(k) < 0);
	fill_the_disk(false);
	while (add(k) < 0)
		;
	assert_int_equal(status_of(k).waiting, 0);
	assert_string_equal(status_of(k).fault, "");
	window = only_window(k);
	assert_int_equal(window.start_us, WINDOW_US);
	assert_int_equal(window.length_us, k->n_windows * WINDOW_US);
	assert_int_equal(window.samples, k->n_windows * (k->n_windows + 1) / 2);
	assert_int_equal(add(k), 0);
}

/* As when the daemon ends. */
static void test_a_flush_does_not_wait(void **state)
{
	struct keeping *k = *state;
	struct fault fault = {};

	assert_int_equal(archive_flush(k->archive, &fault), 0);
	fill_the_disk(true);
	for (int i = 0; i < 5; i++)
		assert_true(add(k) < 0);
	assert_true(archive_flush(k->archive, &fault) < 0);
	assert_true(fault.text[0] != '\0');
	fill_the_disk(false);
	assert_int_equal(archive_flush(k->archive, &fault), 0);
	assert_int_equal(only_window(k).samples, 15);
}

/* But before that it is tried once more, whatever the pause. */
static void test_too_many_are_given_up(void **state)
{
	struct keeping *k = *state;
	int r = 0, before = 0;

	fill_the_disk(true);
	while (status_of(k).given_up == 0) {
		before = r;
		r = add(k);
	}
	assert_int_not_equal(before, -EAGAIN);
	assert_int_equal(status_of(k).given_up, k->n_windows - 1);
	assert_int_equal(status_of(k).waiting, 1);
	fill_the_disk(false);
	assert_int_equal(add(k), 0);
}

static uint64_t passed_us;

static uint64_t later(void)
{
	return clock_us(CLOCK_BOOTTIME) + passed_us;
}

static void damage(const struct keeping *k)
{
	sqlite3 *db = temp_store_connect(k->stored.path);

	temp_store_run(db, "DROP TABLE stack_count");
	sqlite3_close(db);
}

/* So often that no other database may be begun for an hour. */
static void damage_often(struct keeping *k, struct store *store)
{
	passed_us = 0;
	store_set_clock(store, later);
	for (uint64_t i = 1; i <= STORE_MAX_MOVED; i++) {
		damage(k);
		assert_int_equal(add(k), 0);
		assert_int_equal(temp_store_status(store).n_moved, i);
	}
	damage(k);
}

/* Within the hour windows wait, and none is lost. */
static void test_windows_wait_while_the_database_is_damaged_again(void **state)
{
	struct keeping *k = *state;
	struct store *store = archive_get_store(k->archive);
	uint64_t n;

	damage_often(k, store);
	for (n = 0; passed_us < STORE_HEAL_US; n++) {
		assert_true(add(k) < 0);
		passed_us += WINDOW_US;
	}
	assert_non_null(strstr(status_of(k).fault, "damaged"));
	assert_string_equal(temp_store_status(store).damage, status_of(k).fault);
	assert_int_equal(n, 360);
	assert_int_equal(status_of(k).waiting, n);
	assert_int_equal(add(k), 0);
	assert_int_equal(status_of(k).given_up, 0);
	assert_int_equal(status_of(k).waiting, 0);
	assert_int_equal(temp_store_status(store).n_moved, STORE_MAX_MOVED + 1);
	assert_int_equal(temp_store_status(store).n_windows, 1);
}

/* Where a read begins another database, what waits need not wait on. */
static void test_windows_are_stored_once_a_read_has_healed(void **state)
{
	struct keeping *k = *state;
	struct store *store = archive_get_store(k->archive);

	damage_often(k, store);
	for (int i = 0; i < 100; i++)
		add(k);
	assert_int_equal(add(k), -EAGAIN);
	passed_us += STORE_HEAL_US;
	profile_free(temp_store_read(store, STORE_MAX_MOVED));
	assert_int_equal(temp_store_status(store).n_moved, STORE_MAX_MOVED + 1);
	assert_int_equal(add(k), 0);
}

/* As when the daemon ends within the hour. */
static void test_nothing_is_lost_at_the_end_of_a_damaged_database(void **state)
{
	struct keeping *k = *state;
	struct store *store = archive_get_store(k->archive);
	struct fault fault = {};

	damage_often(k, store);
	for (int i = 0; i < 10; i++)
		assert_true(add(k) < 0);
	assert_int_equal(archive_flush(k->archive, &fault), -EBADMSG);
	store_heal_at_once(store);
	assert_int_equal(archive_flush(k->archive, &fault), 0);
	assert_int_equal(status_of(k).waiting, 0);
	assert_int_equal(temp_store_status(store).n_windows, 1);
}

/* Who asks for what is open sees what waits, too. */
static void test_what_waits_is_shown_with_the_open_window(void **state)
{
	struct keeping *k = *state;
	struct window open, waiting;
	const struct profile *profile;

	archive_set_open(k->archive, WINDOW_US, "software");
	assert_null(archive_get_waiting(k->archive, &waiting));
	fill_the_disk(true);
	for (int i = 0; i < 3; i++)
		assert_true(add(k) < 0);
	assert_non_null(archive_get_waiting(k->archive, &waiting));
	assert_int_equal(waiting.start_us, WINDOW_US);
	assert_int_equal(waiting.length_us, 3 * WINDOW_US);
	assert_int_equal(archive_get_open(k->archive, 9 * WINDOW_US / 2, &open, &profile), 1);
	assert_int_equal(open.start_us, WINDOW_US);
	assert_int_equal(open.length_us, 7 * WINDOW_US / 2);
	assert_int_equal(open.samples, 1 + 2 + 3);
	assert_string_equal(open.mode, "software");
	assert_null(profile);
	fill_the_disk(false);
	while (add(k) < 0)
		;
	assert_null(archive_get_waiting(k->archive, &waiting));
	assert_int_equal(archive_get_open(k->archive, UINT32_MAX, &open, &profile), 1);
	assert_int_equal(open.start_us, (1 + k->n_windows) * WINDOW_US);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_ever_more_windows_between_tries),
		TEST(test_all_is_stored_as_one_when_there_is_space),
		TEST(test_a_flush_does_not_wait),
		TEST(test_too_many_are_given_up),
		TEST(test_windows_wait_while_the_database_is_damaged_again),
		TEST(test_windows_are_stored_once_a_read_has_healed),
		TEST(test_nothing_is_lost_at_the_end_of_a_damaged_database),
		TEST(test_what_waits_is_shown_with_the_open_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
