/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Modules that come while it runs, of which the kernel itself does not tell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/util/cleanup.h"
#include "daemon/sampler/running-kernel.h"

#define FIRST                                         \
	"zz_late 20480 0 - Live 0xffffffffc0a5d000\n" \
	"zz_early 8192 2 zz_late,zz_x, Live 0xffffffffc0900000\n"

static int on_event(const struct event *event, void *userdata)
{
	char *told = userdata;
	size_t n = strlen(told);

	assert_int_equal(event->kind, EVENT_MAPPING);
	assert_true(event->mapping.kernel && event->mapping.executable);
	snprintf(told + n, 256 - n, "%s at %llx, %llu;", event->mapping.path,
		 (unsigned long long)event->mapping.address,
		 (unsigned long long)event->mapping.n_bytes);
	return 0;
}

static void assert_told(struct running_kernel *kernel, const char *proc_modules,
			const char *expected)
{
	_cleanup_fclose_ FILE *f = fmemopen((char *)proc_modules, strlen(proc_modules), "r");
	char told[256] = "";

	assert_non_null(f);
	assert_int_equal(running_kernel_read_modules(kernel, f, on_event, told), 0);
	assert_string_equal(told, expected);
}

static void test_only_what_is_new_is_told(void **state)
{
	_cleanup_(running_kernel_freep) struct running_kernel *kernel = NULL;

	assert_int_equal(running_kernel_new(&kernel, -1, -1), 0);
	assert_told(kernel, FIRST,
		    "[zz_early] at ffffffffc0900000, 8192;[zz_late] at ffffffffc0a5d000, 20480;");
	assert_told(kernel, FIRST, "");
	/* used by another one */
	assert_told(kernel,
		    "zz_early 8192 3 zz_y, Live 0xffffffffc0900000\n"
		    "zz_late 20480 0 - Live 0xffffffffc0a5d000\n"
		    "zz_new 4096 0 - Loading 0xffffffffc0b00000 (OE)\n",
		    "[zz_new] at ffffffffc0b00000, 4096;");
}

/* By its size a module may seem to reach into the next one. */
static void test_what_is_behind_a_new_one_is_told_again(void **state)
{
	_cleanup_(running_kernel_freep) struct running_kernel *kernel = NULL;

	assert_int_equal(running_kernel_new(&kernel, -1, -1), 0);
	assert_told(kernel,
		    "zz_a 4096 0 - Live 0xffffffffc0100000\n"
		    "zz_c 4096 0 - Live 0xffffffffc0300000\n",
		    "[zz_a] at ffffffffc0100000, 4096;[zz_c] at ffffffffc0300000, 4096;");
	assert_told(kernel,
		    "zz_a 4096 0 - Live 0xffffffffc0100000\n"
		    "zz_b 4194304 0 - Live 0xffffffffc0200000\n"
		    "zz_c 4096 0 - Live 0xffffffffc0300000\n",
		    "[zz_b] at ffffffffc0200000, 4194304;[zz_c] at ffffffffc0300000, 4096;");
}

static void test_another_in_its_place_is_told(void **state)
{
	_cleanup_(running_kernel_freep) struct running_kernel *kernel = NULL;

	assert_int_equal(running_kernel_new(&kernel, -1, -1), 0);
	assert_told(kernel, "zz_a 4096 0 - Live 0xffffffffc0b00000\n",
		    "[zz_a] at ffffffffc0b00000, 4096;");
	assert_told(kernel, "zz_b 4096 0 - Live 0xffffffffc0b00000\n",
		    "[zz_b] at ffffffffc0b00000, 4096;");
	assert_told(kernel, "zz_b 8192 0 - Live 0xffffffffc0b00000\n",
		    "[zz_b] at ffffffffc0b00000, 8192;");
	assert_told(kernel, "\n", "");
	assert_told(kernel, "zz_b 8192 0 - Live 0xffffffffc0b00000\n",
		    "[zz_b] at ffffffffc0b00000, 8192;");
}

static void test_hidden_addresses_are_not_told(void **state)
{
	_cleanup_(running_kernel_freep) struct running_kernel *kernel = NULL;

	assert_int_equal(running_kernel_new(&kernel, -1, -1), 0);
	assert_told(kernel, "zz_a 4096 0 - Live 0x0000000000000000\nnonsense\n", "");
}

static int refuse(const struct event *event, void *userdata)
{
	return -EIO;
}

static void test_an_error_is_passed_on(void **state)
{
	_cleanup_(running_kernel_freep) struct running_kernel *kernel = NULL;
	_cleanup_fclose_ FILE *f = fmemopen((char *)FIRST, strlen(FIRST), "r");

	assert_non_null(f);
	assert_int_equal(running_kernel_new(&kernel, -1, -1), 0);
	assert_int_equal(running_kernel_read_modules(kernel, f, refuse, NULL), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_what_is_new_is_told),
		cmocka_unit_test(test_what_is_behind_a_new_one_is_told_again),
		cmocka_unit_test(test_another_in_its_place_is_told),
		cmocka_unit_test(test_hidden_addresses_are_not_told),
		cmocka_unit_test(test_an_error_is_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
