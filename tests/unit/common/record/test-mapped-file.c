/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files in memory, and that it is given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/record/mapped-file.h"

/* Whether a line of the process's mappings is of the inode. */
static bool is_mapped(ino_t inode)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	uintmax_t other;
	bool found = false;
	char line[512];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		found |= sscanf(line, "%*s %*s %*s %*s %ju", &other) == 1 && other == inode;
	fclose(maps);
	return found;
}

static void test_memory_is_given_back(void **state)
{
	static const size_t sizes[] = { 1, 1 << 20, (16 << 20) + 1, 40 << 20 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		FILE *sparse = tmpfile();
		struct mapped_file file;
		struct fault fault;
		struct stat st;
		char path[64];

		assert_non_null(sparse);
		assert_int_equal(ftruncate(fileno(sparse), (off_t)sizes[i]), 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(sparse));
		assert_int_equal(mapped_file_open(&file, path, &fault), 0);
		assert_int_equal(fstat(fileno(sparse), &st), 0);
		assert_int_equal(file.n_bytes, sizes[i]);
		assert_int_equal(file.data[sizes[i] - 1], 0);
		assert_true(is_mapped(st.st_ino));
		mapped_file_close(&file);
		assert_null(file.data);
		while (is_mapped(st.st_ino)) /* a thread gives it back */
			sched_yield();
		fclose(sparse);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_is_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
