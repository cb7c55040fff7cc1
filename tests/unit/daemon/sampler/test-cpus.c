/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The events of all CPUs where not even the first descriptor is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/sampler/cpus.h"

static void test_no_descriptor_left(void **state)
{
	const struct probe_result probe = {};
	const struct cpus_settings settings = { .probe = &probe, .only = "", .ring_pages = 1 };
	int next = dup(STDERR_FILENO);
	struct rlimit limit, none;
	struct cpus *cpus = NULL;
	struct fault fault = {};
	int r;

	assert_true(next >= 0);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){ .rlim_cur = (rlim_t)next, .rlim_max = limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	r = cpus_open(&cpus, &settings, &fault);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_int_equal(r, -EMFILE);
	assert_null(cpus);
	assert_non_null(strstr(fault.text, "too many open files"));
	assert_non_null(strstr(fault.text, "LimitNOFILE="));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_descriptor_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
