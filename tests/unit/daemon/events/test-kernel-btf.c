/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <linux/btf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/events/kernel-btf.h"

static char path[] = "/tmp/test-kernel-btf-XXXXXX";

/* A file whose head says that it has @n bytes of names; "....", its types, has none of them. */
static void write_file(const struct btf_header *head, const char *names, size_t n)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(head, sizeof(*head), 1, f), 1);
	assert_int_equal(fwrite("....", 4, 1, f), 1);
	assert_int_equal(fwrite(names, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

#define NAMES "\0int\0task_struct\0perf_event_ctxp\0last"

static const struct btf_header whole = { .magic = BTF_MAGIC,
					 .version = 1,
					 .hdr_len = sizeof(whole),
					 .type_len = 4,
					 .str_off = 4,
					 .str_len = sizeof(NAMES) };

static void test_names_are_whole_strings(void **state)
{
	write_file(&whole, NAMES, sizeof(NAMES));
	assert_true(kernel_btf_has(path, "int"));
	assert_true(kernel_btf_has(path, "task_struct"));
	assert_true(kernel_btf_has(path, "last"));
	assert_false(kernel_btf_has(path, "struct"));
	assert_false(kernel_btf_has(path, "perf_event"));
	assert_false(kernel_btf_has(path, "...."));
	assert_false(kernel_btf_has(path, "absent"));
}

static void assert_has_none(struct btf_header head, size_t n_names)
{
	write_file(&head, NAMES, n_names);
	assert_false(kernel_btf_has(path, "int"));
}

static void test_a_broken_file_has_none(void **state)
{
	struct btf_header no_magic = whole, too_long = whole, empty = whole, far = whole;

	no_magic.magic = 0;
	too_long.str_len = UINT32_MAX;
	empty.str_len = 0;
	far.str_off = UINT32_MAX;
	assert_has_none(whole, sizeof(NAMES) - 1);
	assert_has_none(no_magic, sizeof(NAMES));
	assert_has_none(too_long, sizeof(NAMES));
	assert_has_none(empty, sizeof(NAMES));
	assert_has_none(far, sizeof(NAMES));
	assert_int_equal(truncate(path, 3), 0);
	assert_false(kernel_btf_has(path, "int"));
	assert_false(kernel_btf_has("/nonexistent", "int"));
}

static void test_the_running_kernel(void **state)
{
	assert_true(kernel_btf_has(KERNEL_BTF, "task_struct"));
	assert_false(kernel_btf_has(KERNEL_BTF, "no_such_name_of_a_kernel"));
}

static int run_with_kernel(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_the_running_kernel) };

	if (access(KERNEL_BTF, R_OK) == 0)
		return cmocka_run_group_tests(tests, NULL, NULL);
	fputs("The kernel's BTF, " KERNEL_BTF ", is missing.\n", stderr);
	return 77;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_whole_strings),
		cmocka_unit_test(test_a_broken_file_has_none),
	};
	int fd = mkstemp(path), r;

	if (fd < 0)
		return 1;
	close(fd);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return r ?: run_with_kernel();
}
