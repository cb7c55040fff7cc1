/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Power fails N_FAILURES times, each time with some write at random: while the database is opened
 * or made, while windows are written, marked and merged, while the log is copied. What was not
 * synced is lost or torn. Each time the database is whole, and has all windows that were synced
 * before, and at most the one that was being written besides. And the disk refuses writes: what was
 * refused is written when it is tried again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "daemon/store/mark.h"
#include "daemon/store/open.h"
#include "tests/support/faulty-disk.h"
#include "tests/support/random-profile.h"
#include "tests/support/temp-store.h"

/* Under sanitizers each takes ten times as long. */
#ifdef __SANITIZE_ADDRESS__
#define N_FAILURES 60
#else
#define N_FAILURES 1000
#endif
#define N_PER_FILE 10 /* failures, then the next database */
#define MAX_WRITES 900
#define N_PROFILES 40
#define N_REFUSED  200
#define SECOND     1000000ULL

static struct profile *profiles[N_PROFILES];
static uint64_t random_state = 1;

static const struct store_settings as_written;
static const struct store_settings merged = {
	.tiers = { .rows = { { 10 * SECOND, 50 * SECOND },
			     { 30 * SECOND, 300 * SECOND },
			     { 60 * SECOND, 86400 * SECOND } },
		   .n = 3 },
};

/* A database, and what is known of it. */
struct subject {
	struct temp_store stored;
	const struct store_settings *settings;
	uint64_t n_written, n_synced; /* windows; each is 10 s after the one before */
};

/* What window @i has, from 0. */
static const struct profile *profile_of(uint64_t i)
{
	return profiles[i % N_PROFILES];
}

static int make_profiles(void **state)
{
	for (uint64_t i = 0; i < N_PROFILES; i++) {
		profiles[i] = random_profile_of_one_user(i);
		profiles[i]->info = (struct profile_info){ .n_cpus = 1 };
	}
	faulty_disk_register();
	return 0;
}

static int free_profiles(void **state)
{
	for (size_t i = 0; i < N_PROFILES; i++)
		profile_free(profiles[i]);
	return 0;
}

static bool all_are_alive(int32_t pid)
{
	return true;
}

/* NULL if power has failed. */
static struct store *try_to_open(const struct subject *subject)
{
	struct store *store = NULL;
	struct fault fault = { 0 };
	int r = store_open(&store, subject->stored.path, subject->settings, &fault);

	TEMP_STORE_CHECK(r == 0 || faulty_disk_has_failed(), "%s", fault.text);
	if (r < 0)
		return NULL;
	store_set_alive(store, all_are_alive);
	return store;
}

/* -errno once power has failed. */
static int write_one(struct subject *subject, struct store *store)
{
	struct window window = temp_store_window(subject->n_written);
	struct fault fault = { 0 };
	int64_t id;
	int r;

	r = store_add(store, &window, profile_of(subject->n_written), &id, &fault);
	if (r >= 0)
		subject->n_written++;
	if (r >= 0 && random_below(&random_state, 8) == 0) {
		struct store_mark mark = { .first = id, .last = id };

		snprintf(mark.name, sizeof(mark.name), "mark%d", (int)id);
		r = store_add_mark(store, &mark, &fault);
		if (!faulty_disk_has_failed())
			r = MAX(r, 0); /* there may be enough of them */
	}
	while (r >= 0 && random_below(&random_state, 4) != 0) {
		r = store_roll(store, &fault);
		if (r == 0)
			break;
	}
	TEMP_STORE_CHECK(r >= 0 || faulty_disk_has_failed(), "%s", fault.text);
	if (r >= 0 && random_below(&random_state, 3) == 0) /* as a long log has it */
		store_checkpoint_start(&store->checkpoint, STORE_CHECKPOINT_COPY);
	if (r >= 0 && random_below(&random_state, 2)) {
		store_checkpoint_wait(&store->checkpoint, 60000);
		if (!faulty_disk_has_failed())
			subject->n_synced = subject->n_written;
	}
	return r;
}

static void write_until_power_fails(struct subject *subject)
{
	struct store *store;

	faulty_disk_begin(1 + random_below(&random_state, MAX_WRITES));
	while (!faulty_disk_has_failed()) {
		store = try_to_open(subject);
		if (!store)
			break;
		for (int i = 0; i < 100 && write_one(subject, store) >= 0; i++)
			;
		store_free(store);
	}
	faulty_disk_lose(&random_state);
}

/* Of all windows. */
struct sums {
	uint64_t n_windows, samples;
};

static int add_window(const struct window *window, void *userdata)
{
	struct sums *sums = userdata;

	sums->n_windows++;
	sums->samples += window->samples;
	return 0;
}

/* Of the first @n windows, as they were written. */
static uint64_t samples_of(uint64_t n)
{
	uint64_t samples = 0;

	for (uint64_t i = 0; i < n; i++)
		samples += temp_store_window(i).samples;
	return samples;
}

static void check_rows(struct store *store, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		_cleanup_(profile_freep) struct profile *back =
			temp_store_read(store, (int64_t)i + 1);

		assert_non_null(back);
		assert_true(profile_equal(profile_of(i), back));
	}
}

static void check(struct subject *subject)
{
	struct sums sums = { 0 };
	struct fault fault = { 0 };
	struct store_status status;
	struct store *store;
	uint64_t n;

	faulty_disk_begin(0);
	if (access(subject->stored.path, F_OK) == 0)
		temp_store_check(subject->stored.path);
	store = try_to_open(subject);
	assert_non_null(store);
	status = temp_store_status(store);
	assert_string_equal(status.moved_to, "");
	n = status.last_us / (10 * SECOND);
	TEMP_STORE_CHECK(n >= subject->n_synced && n <= subject->n_written + 1,
			 "%d windows, written %d, synced %d", (int)n, (int)subject->n_written,
			 (int)subject->n_synced);
	assert_int_equal(store_for_each(store, 0, UINT64_MAX, add_window, &sums, &fault), 0);
	assert_int_equal(sums.samples, samples_of(n));
	if (subject->settings->tiers.n == 0) {
		assert_int_equal(sums.n_windows, n);
		check_rows(store, n);
	}
	store_free(store);
	faulty_disk_end();
	subject->n_written = subject->n_synced = n;
}

static void fail_often(const struct store_settings *settings)
{
	struct subject subject = { .settings = settings };
	uint64_t n_windows = 0, n_lost, n_torn;

	for (int i = 0; i < N_FAILURES / 2 / N_PER_FILE; i++) {
		subject.n_written = subject.n_synced = 0;
		temp_store_init(&subject.stored);
		for (int k = 0; k < N_PER_FILE; k++) {
			write_until_power_fails(&subject);
			check(&subject);
		}
		n_windows += subject.n_written;
		temp_store_done(&subject.stored);
	}
	n_lost = faulty_disk_count_lost(&n_torn);
	print_message("%d windows are there; until now %d writes were lost, %d in part\n",
		      (int)n_windows, (int)n_lost, (int)n_torn);
	assert_true(n_windows > N_FAILURES / 2 && n_lost > n_torn && n_torn > 0);
}

static void test_windows_as_written(void **state)
{
	fail_often(&as_written);
}

static void test_windows_merged(void **state)
{
	fail_often(&merged);
}

/* Adds window @i, again and again until the disk takes it. How often it did not. */
static unsigned int add_in_the_end(struct store *store, uint64_t i)
{
	struct window window = temp_store_window(i);
	unsigned int n_refused = 0;
	struct fault fault;
	int64_t id;
	int r;

	do {
		fault = (struct fault){ 0 };
		r = store_add(store, &window, profile_of(i), &id, &fault);
		TEMP_STORE_CHECK(r == 0 || ((r == -ENOSPC || r == -EIO) && *fault.text), "%d: %s",
				 r, fault.text);
		n_refused += r < 0;
	} while (r < 0);
	assert_int_equal(id, i + 1);
	return n_refused;
}

static void test_writes_that_are_refused(void **state)
{
	static const int codes[] = { SQLITE_FULL, SQLITE_IOERR_WRITE };
	struct subject subject = { .settings = &as_written };
	unsigned int n_refused = 0, n_ended = 0;
	struct store *store;

	temp_store_init(&subject.stored);
	faulty_disk_begin(0);
	store = try_to_open(&subject);
	for (uint64_t i = 0; i < N_REFUSED; i++) {
		faulty_disk_refuse(1 + random_below(&random_state, 400), codes[i % 2]);
		n_refused += add_in_the_end(store, i);
		if (random_below(&random_state, 3) == 0)
			store_checkpoint_start(&store->checkpoint, STORE_CHECKPOINT_COPY);
		store_checkpoint_wait(&store->checkpoint, 60000);
		n_ended += faulty_disk_has_refused();
	}
	faulty_disk_refuse(0, SQLITE_OK);
	check_rows(store, N_REFUSED);
	store_free(store);
	faulty_disk_end();
	temp_store_check(subject.stored.path);
	temp_store_done(&subject.stored);
	print_message("%u windows were refused once, %u other writes\n", n_refused,
		      n_ended - n_refused);
	assert_true(n_refused > N_REFUSED / 8 && n_ended > n_refused);
}

/* A window that cannot be read now can be later: that is no damage, and nothing is renamed. */
static void test_reads_that_are_refused(void **state)
{
	struct subject subject = { .settings = &as_written };
	uint64_t n_failed = 0;
	struct store *store;

	temp_store_init(&subject.stored);
	faulty_disk_begin(0);
	store = try_to_open(&subject);
	for (uint64_t i = 0; i < N_PROFILES; i++)
		add_in_the_end(store, i);
	for (int i = 0; i < N_REFUSED; i++) {
		int64_t id = 1 + random_below(&random_state, N_PROFILES);
		_cleanup_(profile_freep) struct profile *p = NULL;
		struct fault fault = { 0 };
		int r;

		store_free(store); /* and what it remembers of the file */
		store = try_to_open(&subject);
		faulty_disk_refuse_read(1 + random_below(&random_state, 60));
		r = store_read(store, id, &p, NULL, &fault);
		TEMP_STORE_CHECK(r == 1 || (r < 0 && r != -EBADMSG && *fault.text), "%d: %s", r,
				 fault.text);
		faulty_disk_refuse_read(0);
		n_failed += r < 0;
		assert_int_equal(store_count_moved(store), 0);
	}
	check_rows(store, N_PROFILES);
	store_free(store);
	faulty_disk_end();
	temp_store_check(subject.stored.path);
	temp_store_done(&subject.stored);
	print_message("%u reads of windows failed once\n", (unsigned int)n_failed);
	assert_true(n_failed > N_REFUSED / 8 && n_failed <= faulty_disk_count_refused_reads());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_windows_as_written),
		cmocka_unit_test(test_windows_merged),
		cmocka_unit_test(test_writes_that_are_refused),
		cmocka_unit_test(test_reads_that_are_refused),
	};

	return cmocka_run_group_tests(tests, make_profiles, free_profiles);
}
