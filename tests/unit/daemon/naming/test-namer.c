/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* With the real opener and parser. The program itself is what is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/parser/spawn.h"
#include "daemon/naming/namer.h"
#include "tests/support/dying-parser.h"
#include "tests/support/opener-process.h"
#include "tests/support/profile-fixture.h"

#define PATIENCE_MS 60000
#define IDLE_US     2000000

struct fixture {
	struct opener_process process;
	struct window_queue *queue;
	struct namer *namer;
	char program[PATH_MAX];
};

static void start(struct fixture *f, int (*connect)(uint32_t owner, void *userdata))
{
	const struct namer_settings settings = {
		.opener = { .connect = opener_process_connect, .userdata = &f->process },
		.parser = { .connect = connect, .idle_us = IDLE_US },
		.max_queued = 4,
	};

	*f = (struct fixture){};
	assert_true(readlink("/proc/self/exe", f->program, sizeof(f->program) - 1) > 0);
	assert_int_equal(window_queue_new(&f->queue, 4), 0);
	assert_int_equal(namer_new(&f->namer, &settings), 0);
	assert_int_equal(namer_start(f->namer, f->queue), 0);
}

static void end(struct fixture *f)
{
	window_queue_wake(f->queue);
	namer_free(f->namer);
	window_queue_free(f->queue);
	opener_process_kill(&f->process);
}

/* A window with one sample of this process. */
static void put_window(struct fixture *f)
{
	struct window_profile window = { .window = { .length_us = 1000000, .samples = 1 },
					 .profile = fixture_new() };
	uint32_t object, process;
	struct stat st;

	assert_int_equal(stat(f->program, &st), 0);
	object = fixture_index(profile_add_object(window.profile, &(struct profile_object){
									  .kind = OBJECT_FILE,
									  .path = f->program,
									  .major = major(st.st_dev),
									  .minor = minor(st.st_dev),
									  .inode = st.st_ino,
								  }));
	process = fixture_index(profile_add_process(window.profile, &(struct profile_process){
									    .pid = getpid(),
									    .comm = "x",
									    .uid = getuid(),
								    }));
	fixture_stack(window.profile, process, PROFILE_NONE, object, 0x1000, 1);
	assert_int_equal(window_queue_put(f->queue, &window), 0);
}

static void take_window(struct fixture *f)
{
	struct pollfd fd = { .fd = namer_fd(f->namer), .events = POLLIN };
	struct window_profile window;

	assert_int_equal(poll(&fd, 1, PATIENCE_MS), 1);
	assert_true(namer_take(f->namer, &window));
	assert_int_equal(window.profile->counters.samples, 1);
	window_profile_done(&window);
}

/* Counts that are published a moment after the window. */
static struct namer_counts wait_for_counts(struct fixture *f, uint64_t n_died)
{
	struct namer_counts counts;

	for (int i = 0; i < PATIENCE_MS / 10; i++) {
		namer_get_counts(f->namer, &counts);
		if (counts.parsers_ended[PARSER_END_DIED] >= n_died)
			break;
		usleep(10000);
	}
	return counts;
}

struct refusals {
	size_t n;
	char path[256], reason[128];
};

static void take_refused(const char *path, const char *reason, void *userdata)
{
	struct refusals *refusals = userdata;

	refusals->n++;
	snprintf(refusals->path, sizeof(refusals->path), "%s", path);
	snprintf(refusals->reason, sizeof(refusals->reason), "%s", reason);
}

static bool has_child_that_ended(void)
{
	siginfo_t info = {};

	assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT), 0);
	return info.si_pid != 0;
}

static void test_idle_parsers_end(void **state)
{
	struct refusals refusals = {};
	struct namer_counts counts;
	struct fixture f;
	int i;

	start(&f, spawn_parser);
	put_window(&f);
	take_window(&f);
	for (i = 0; i < PATIENCE_MS / 100 && !has_child_that_ended(); i++)
		usleep(100000);
	assert_true(has_child_that_ended());
	counts = wait_for_counts(&f, 0);
	assert_int_equal(counts.opener.opened, 1);
	assert_int_equal(counts.behind, 0);
	for (i = 0; i < PARSER_END_N; i++)
		assert_int_equal(counts.parsers_ended[i], 0);
	namer_for_each_refused(f.namer, take_refused, &refusals);
	assert_int_equal(refusals.n, 0);
	end(&f);
}

static void test_a_file_whose_parser_dies_is_refused(void **state)
{
	struct refusals refusals = {};
	struct namer_counts counts;
	struct fixture f;

	start(&f, connect_to_the_dying);
	put_window(&f);
	take_window(&f);
	/* twice for the build-id, twice for the functions: somebody may have killed the first */
	counts = wait_for_counts(&f, 4);
	assert_int_equal(counts.parsers_ended[PARSER_END_DIED], 4);
	assert_int_equal(counts.unnamed, 1);
	namer_for_each_refused(f.namer, take_refused, &refusals);
	assert_int_equal(refusals.n, 1);
	assert_string_equal(refusals.path, f.program);
	assert_string_equal(refusals.reason, "its parser was killed");
	/* not again */
	put_window(&f);
	take_window(&f);
	counts = wait_for_counts(&f, 4);
	assert_int_equal(counts.parsers_ended[PARSER_END_DIED], 4);
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_whose_parser_dies_is_refused),
		cmocka_unit_test(test_idle_parsers_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
