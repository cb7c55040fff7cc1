/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A store in a folder of its own for each test, with windows made of seeds. */
#pragma once

#include <fcntl.h>

#include "daemon/store/store.h"
#include "tests/support/random-profile.h"
#include "tests/support/temp-store.h"

#define N_WINDOWS 10

static inline int set_up(void **state)
{
	struct temp_store *stored = malloc(sizeof(*stored));

	assert_non_null(stored);
	temp_store_init(stored);
	*state = stored;
	return 0;
}

static inline int tear_down(void **state)
{
	temp_store_done(*state);
	free(*state);
	return 0;
}

static inline int64_t add_seed(struct store *store, uint64_t seed)
{
	_cleanup_(profile_freep) struct profile *p = random_profile(seed, 0);
	struct window window = temp_store_window(seed);

	return temp_store_add(store, &window, p);
}

/* -errno of adding, and why. */
static inline int try_to_add(struct store *store, uint64_t seed, struct fault *fault)
{
	_cleanup_(profile_freep) struct profile *p = random_profile(seed, 0);
	struct window window = temp_store_window(seed);
	int64_t id = -7;
	int r;

	*fault = (struct fault){ 0 };
	r = store_add(store, &window, p, &id, fault);
	assert_true(r == 0 ? id > 0 : id == -7 && *fault->text);
	return r;
}

static inline void assert_seed_is_back(struct store *store, int64_t id, uint64_t seed)
{
	_cleanup_(profile_freep) struct profile *p = random_profile(seed, 0);
	_cleanup_(profile_freep) struct profile *back = temp_store_read(store, id);

	assert_non_null(back);
	assert_true(profile_equal(p, back));
}

/* Windows 1 to N_WINDOWS; the seed of each is its number. */
static inline void make_database(const char *path)
{
	_cleanup_(store_freep) struct store *store = temp_store_open(path, 0);

	for (uint64_t i = 1; i <= N_WINDOWS; i++)
		assert_int_equal(add_seed(store, i), i);
}

static inline void assert_all_are_there(struct store *store)
{
	for (uint64_t i = 1; i <= N_WINDOWS; i++)
		assert_seed_is_back(store, (int64_t)i, i);
}

static inline void write_file(const char *path, const void *data, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, n), n);
	close(fd);
}

static inline char *read_file(const char *path, size_t *ret_n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *data;

	assert_true(fd >= 0);
	*ret_n = temp_store_file_bytes(path);
	data = malloc(*ret_n + 1);
	assert_non_null(data);
	assert_int_equal(read(fd, data, *ret_n), *ret_n);
	close(fd);
	return data;
}

/* In a folder of its own. */
#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
