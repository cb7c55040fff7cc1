/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/macro.h"
#include "tests/support/config-place.h"

static void without_files_there_are_defaults(void **state)
{
	struct config_place place;

	config_place_init(&place);
	assert_int_equal(config_place_load(&place), 0);
	assert_config_defaults(&place.config);
	assert_int_equal(place.config.sampling.frequency, 99);
	assert_int_equal(place.config.window_us, 10000000);
	assert_true(place.config.sampling.kernel);
	assert_int_equal(place.config.sampling.user_stacks, SAMPLER_USER_AUTO);
	config_place_put(&place, "a/x.conf", "");
	config_place_put(&place, "b/x.conf.d/empty.conf", "# nothing\n\n ; nothing\n[Sampling]\n");
	assert_int_equal(config_place_load(&place), 0);
	assert_config_defaults(&place.config);
	config_place_done(&place);
}

/* The syntax as systemd has it. */
static void lines(void **state)
{
	struct config_place place;

	config_place_init(&place);
	config_place_put(&place, "a/x.conf",
			 "\xef\xbb\xbf# a byte order mark and a comment that ends so: \\\n"
			 "  [Sampling]  \n\t Frequency\t=\t1\\\n# between\n00\n");
	assert_int_equal(config_place_load(&place), -EINVAL); /* "1 00": joined by a space */
	config_place_put(&place, "a/x.conf",
			 "[Store]\r\nWindowSec=1min \\\n   # between\n  20s\r\n"
			 "[Sampling]\nKernel=off\nFrequency=7");
	assert_int_equal(config_place_load(&place), 0);
	assert_int_equal(place.config.window_us, 80000000);
	assert_int_equal(place.config.sampling.frequency, 7);
	assert_false(place.config.sampling.kernel);

	/* assigned nothing: back to what it is without; the last assignment counts */
	config_place_put(&place, "a/x.conf",
			 "[Sampling]\nFrequency=7\nKernel=no\nFrequency=\nKernel=yes\n");
	assert_int_equal(config_place_load(&place), 0);
	assert_config_defaults(&place.config);
	config_place_done(&place);
}

static void drop_ins_by_systemds_rules(void **state)
{
	struct config_place place;
	char link[128];

	config_place_init(&place);
	config_place_put(&place, "b/x.conf", "[Sampling]\nFrequency=1\nKernel=no\n");
	config_place_put(&place, "b/x.conf.d/50-b.conf", "[Sampling]\nFrequency=2\n");
	assert_int_equal(config_place_load(&place), 0);
	assert_int_equal(place.config.sampling.frequency, 2);
	assert_false(place.config.sampling.kernel);

	/* the first directory's file takes the place of the second's; drop-ins of both are read */
	config_place_put(&place, "a/x.conf", "[Store]\nWindowSec=2s\n");
	assert_int_equal(config_place_load(&place), 0);
	assert_true(place.config.sampling.kernel);
	assert_int_equal(place.config.sampling.frequency, 2);

	/* by name, whatever the directory */
	config_place_put(&place, "a/x.conf.d/40-a.conf", "[Sampling]\nFrequency=3\n");
	assert_int_equal(config_place_load(&place), 0);
	assert_int_equal(place.config.sampling.frequency, 2);
	config_place_put(&place, "a/x.conf.d/60-a.conf", "[Sampling]\nFrequency=4\n");
	assert_int_equal(config_place_load(&place), 0);
	assert_int_equal(place.config.sampling.frequency, 4);

	/* of one name, that of the first directory */
	config_place_put(&place, "a/x.conf.d/50-b.conf", "[Sampling]\nKernel=no\n");
	snprintf(link, sizeof(link), "%s/a/x.conf.d/60-a.conf", place.root);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(config_place_load(&place), 0);
	assert_int_equal(place.config.sampling.frequency, 3);
	assert_false(place.config.sampling.kernel);

	/* a link to /dev/null hides */
	snprintf(link, sizeof(link), "%s/a/x.conf.d/50-b.conf", place.root);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink("/dev/null", link), 0);
	assert_int_equal(config_place_load(&place), 0);
	assert_int_equal(place.config.sampling.frequency, 3);
	assert_true(place.config.sampling.kernel);

	/* what is no *.conf, or hidden, is none */
	config_place_put(&place, "a/x.conf.d/99.conf~", "[Sampling]\nFrequency=5\n");
	config_place_put(&place, "a/x.conf.d/.99.conf", "[Sampling]\nFrequency=5\n");
	config_place_put(&place, "a/x.conf.d/.conf", "[Sampling]\nFrequency=5\n");
	assert_int_equal(config_place_load(&place), 0);
	assert_int_equal(place.config.sampling.frequency, 3);
	config_place_done(&place);
}

static void what_is_unknown_warns_with_file_and_line(void **state)
{
	struct config_place place;

	config_place_init(&place);
	config_place_put(&place, "a/x.conf",
			 "Frequency=5\n\n[Sampling]\nfrequency=6\nFrequency=7\n[Elsewhere]\nX=1\n");
	config_place_put(&place, "a/x.conf.d/a.conf", "[Store]\nFrequency=8 \\\n 9\nMode=\n");
	assert_int_equal(config_place_load(&place), 0);
	assert_string_equal(place.warnings,
			    "/a/x.conf:1: Frequency= is outside of any section, ignored\n"
			    "/a/x.conf:4: unknown key frequency= in [Sampling], ignored\n"
			    "/a/x.conf:7: unknown section [Elsewhere], ignored\n"
			    "/a/x.conf.d/a.conf:2: unknown key Frequency= in [Store], ignored\n"
			    "/a/x.conf.d/a.conf:4: unknown key Mode= in [Store], ignored\n");
	assert_int_equal(place.config.sampling.frequency, 7);
	config_place_done(&place);
}

static void files_of_any_bytes(void **state)
{
	static char bytes[2 << 20];
	struct config_place place;

	config_place_init(&place);
	memset(bytes, 'x', sizeof(bytes));
	config_place_put_bytes(&place, "a/x.conf", bytes, 9000);
	assert_int_equal(config_place_load(&place), -EINVAL);
	assert_non_null(strstr(place.fault.text, "x.conf:1: longer than"));
	config_place_put_bytes(&place, "a/x.conf", bytes, sizeof(bytes));
	assert_int_equal(config_place_load(&place), -EFBIG);

	/* lines that are short each, but joined are not */
	for (size_t i = 0; i < 20000; i += 100) {
		bytes[i + 98] = '\\';
		bytes[i + 99] = '\n';
	}
	config_place_put_bytes(&place, "a/x.conf", bytes, 20000);
	assert_int_equal(config_place_load(&place), -EINVAL);

	srandom(1);
	for (int round = 0; round < 300; round++) {
		static const char alphabet[] = "[]=\\\n\n;# \tSamplingMode\0\xff\r9K";
		size_t n = (size_t)random() % 500;

		for (size_t i = 0; i < n; i++)
			bytes[i] = alphabet[(size_t)random() % (sizeof(alphabet) - 1)];
		config_place_put_bytes(&place, "a/x.conf", bytes, n);
		if (config_place_load(&place) < 0)
			assert_string_not_equal(place.fault.text, "");
	}
	config_place_done(&place);
}

static void what_is_no_file(void **state)
{
	struct config_place place;
	char path[128];

	config_place_init(&place);
	snprintf(path, sizeof(path), "%s/a/x.conf.d/directory.conf", place.root);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(config_place_load(&place), -EINVAL);
	rmdir(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(config_place_load(&place), -EINVAL); /* and does not wait for a writer */
	unlink(path);
	assert_int_equal(symlink("/nowhere", path), 0);
	assert_int_equal(config_place_load(&place), 0);
	config_place_done(&place);
}

static void one_path(void **state)
{
	struct config_place place;
	char path[128];

	config_place_init(&place);
	config_place_put(&place, "a/x.conf", "[Sampling]\nFrequency=11\n");
	config_place_put(&place, "a/x.conf.d/1.conf", "[Sampling]\nKernel=no\n");
	snprintf(path, sizeof(path), "%s/a/x.conf", place.root);
	assert_int_equal(config_load_path(&place.config, path, config_place_on_warning, &place,
					  &place.fault),
			 0);
	assert_int_equal(place.config.sampling.frequency, 11);
	assert_false(place.config.sampling.kernel);
	snprintf(path, sizeof(path), "%s/a/y.conf", place.root);
	assert_int_equal(config_load_path(&place.config, path, config_place_on_warning, &place,
					  &place.fault),
			 -ENOENT);
	config_place_done(&place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_files_there_are_defaults),
		cmocka_unit_test(lines),
		cmocka_unit_test(drop_ins_by_systemds_rules),
		cmocka_unit_test(what_is_unknown_warns_with_file_and_line),
		cmocka_unit_test(files_of_any_bytes),
		cmocka_unit_test(what_is_no_file),
		cmocka_unit_test(one_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
