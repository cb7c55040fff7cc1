/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/config.h"
#include "daemon/config/value.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/macro.h"

/* Two directories, of which the first comes first, as /etc and /usr/lib do. */
struct place {
	char root[32];
	char directories[2][64];
	char warnings[2048];
	unsigned int n_warnings;
	struct config config;
	struct fault fault;
};

static void place_init(struct place *place)
{
	*place = (struct place){ .root = "/tmp/test-config-XXXXXX" };
	assert_non_null(mkdtemp(place->root));
	for (int i = 0; i < 2; i++) {
		char drop_ins[128];

		snprintf(place->directories[i], sizeof(place->directories[i]), "%s/%c", place->root,
			 'a' + i);
		snprintf(drop_ins, sizeof(drop_ins), "%s/x.conf.d", place->directories[i]);
		assert_int_equal(mkdir(place->directories[i], 0700), 0);
		assert_int_equal(mkdir(drop_ins, 0700), 0);
	}
}

static void place_done(struct place *place)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", place->root);
	assert_int_equal(system(command), 0); /* NOLINT: the path is this test's */
}

static void put_bytes(struct place *place, const char *path, const char *bytes, size_t n)
{
	char full[256];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", place->root, path);
	f = fopen(full, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	fclose(f);
}

static void put(struct place *place, const char *path, const char *text)
{
	put_bytes(place, path, text, strlen(text));
}

static void on_warning(const char *text, void *userdata)
{
	struct place *place = userdata;
	size_t n = strlen(place->warnings);

	place->n_warnings++;
	snprintf(place->warnings + n, sizeof(place->warnings) - n, "%s\n",
		 text + strlen(place->root));
}

static int load(struct place *place)
{
	const char *directories[] = { place->directories[0], place->directories[1] };
	const struct config_files files = { directories, 2, "x.conf" };

	place->warnings[0] = '\0';
	place->n_warnings = 0;
	place->fault.text[0] = '\0';
	return config_load(&place->config, &files, on_warning, place, &place->fault);
}

static void assert_defaults(const struct config *config)
{
	struct config defaults;

	config_init(&defaults);
	assert_memory_equal(config, &defaults, sizeof(defaults));
}

static void without_files_there_are_defaults(void **state)
{
	struct place place;

	place_init(&place);
	assert_int_equal(load(&place), 0);
	assert_defaults(&place.config);
	assert_int_equal(place.config.sampling.frequency, 99);
	assert_int_equal(place.config.window_us, 10000000);
	assert_true(place.config.sampling.kernel);
	assert_int_equal(place.config.sampling.user_stacks, SAMPLER_USER_AUTO);
	put(&place, "a/x.conf", "");
	put(&place, "b/x.conf.d/empty.conf", "# nothing\n\n ; nothing\n[Sampling]\n");
	assert_int_equal(load(&place), 0);
	assert_defaults(&place.config);
	place_done(&place);
}

static void assert_only(const struct task_filter *only)
{
	assert_int_equal(only->units.n, 2);
	assert_string_equal(only->units.names[0], "nginx.service");
	assert_string_equal(only->units.names[1], "session-1.scope");
	assert_int_equal(only->uids.n, 2);
	assert_int_equal(only->uids.ids[0], 0);
	assert_int_equal(only->uids.ids[1], 4000);
	assert_int_equal(only->pids.n, 2);
	assert_int_equal(only->pids.ids[0], 17);
	assert_int_equal(only->pids.ids[1], 4711);
}

static void every_key(void **state)
{
	struct place place;

	place_init(&place);
	put(&place, "a/x.conf",
	    "[Sampling]\nMode=software\nFrequency = 999\nKernel=no\nRingSize=256K\n"
	    "MaxStacks=5000\nMaxBranches=6000\nEvent=branches\nCPUs=0-3,8\nPeriod="
	    "1000003\nUserStacks=tables\n"
	    "BranchFilter=any_call,u\nUnits=nginx.service  session-1.scope\n"
	    "Users=root 4000\nPids= 17 4711 \n\n[Store]\nMaxUse=2G\nWindowSec=1min 30s\n"
	    "MaxRetention=30d\nKeepFree=1.5G\n");
	assert_int_equal(load(&place), 0);
	assert_string_equal(place.warnings, "");
	assert_int_equal(place.config.sampling.mode, SAMPLER_SOFTWARE);
	assert_int_equal(place.config.sampling.frequency, 999);
	assert_false(place.config.sampling.kernel);
	assert_int_equal(place.config.sampling.ring_pages,
			 (256 << 10) / (int)sysconf(_SC_PAGESIZE));
	assert_int_equal(place.config.sampling.event.kind, EVENT_SPEC_TAKEN_BRANCHES);
	assert_int_equal(place.config.sampling.user_stacks, SAMPLER_USER_TABLES);
	assert_int_equal(place.config.sampling.period, 1000003);
	assert_string_equal(place.config.sampling.cpus, "0-3,8");
	assert_int_equal(place.config.sampling.branch_filter,
			 PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_USER);
	assert_only(&place.config.sampling.only);
	assert_int_equal(place.config.max_stacks, 5000);
	assert_int_equal(place.config.max_branches, 6000);
	assert_int_equal(place.config.max_use_bytes, 2LL << 30);
	assert_int_equal(place.config.keep_free.bytes, 3LL << 29);
	assert_int_equal(place.config.keep_free.percent, 0);
	put(&place, "a/x.conf.d/a.conf", "[Store]\nKeepFree=15%\n");
	assert_int_equal(load(&place), 0);
	assert_int_equal(place.config.keep_free.bytes, 0);
	assert_int_equal(place.config.keep_free.percent, 15);
	assert_int_equal(place.config.max_retention_us, 30 * 86400000000ULL);
	assert_int_equal(place.config.window_us, 90000000);
	place_done(&place);
}

static void assert_tier(const struct store_tier *tier, uint64_t length_s, uint64_t keep_s)
{
	assert_int_equal(tier->length_us, length_s * 1000000);
	assert_int_equal(tier->keep_us, keep_s * 1000000);
}

static void windows_of_several_lengths(void **state)
{
	const struct store_tiers *tiers;
	struct place place;

	place_init(&place);
	tiers = &place.config.tiers;
	assert_int_equal(load(&place), 0);
	assert_int_equal(tiers->n, 4);
	assert_tier(&tiers->rows[0], 10, 3600);
	assert_tier(&tiers->rows[3], 3600, 90 * 86400);
	put(&place, "a/x.conf", "[Store]\nWindows=5s:10min  90sec:1d\t20min:2weeks\n");
	assert_int_equal(load(&place), 0);
	assert_int_equal(tiers->n, 3);
	assert_tier(&tiers->rows[0], 5, 600);
	assert_tier(&tiers->rows[1], 90, 86400);
	assert_tier(&tiers->rows[2], 1200, 14 * 86400);
	assert_int_equal(place.config.window_us, 5000000);
	put(&place, "a/x.conf", "[Store]\nWindowSec=20s\nWindows=5s:10min\n");
	assert_int_equal(load(&place), 0);
	assert_int_equal(tiers->n, 1);
	assert_int_equal(place.config.window_us, 20000000);
	put(&place, "a/x.conf", "[Store]\nWindows=5s:10min\nWindows=\n");
	assert_int_equal(load(&place), 0);
	assert_int_equal(tiers->n, 4); /* the default */
	place_done(&place);
}

static void stacks_of_each_kind(void **state)
{
	static const struct {
		const char *name;
		enum sampler_user_stacks stacks;
	} kinds[] = {
		{ "tables", SAMPLER_USER_TABLES },
		{ "frame-pointers", SAMPLER_USER_FRAME_POINTERS },
		{ "none", SAMPLER_USER_NONE },
		{ "auto", SAMPLER_USER_AUTO },
	};
	struct place place;
	char text[64];

	place_init(&place);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		snprintf(text, sizeof(text), "[Sampling]\nUserStacks=%s\n", kinds[i].name);
		put(&place, "a/x.conf", text);
		assert_int_equal(load(&place), 0);
		assert_string_equal(place.warnings, "");
		assert_int_equal(place.config.sampling.user_stacks, kinds[i].stacks);
		assert_string_equal(sampler_user_stacks_name(kinds[i].stacks), kinds[i].name);
	}
	place_done(&place);
}

/* The syntax as systemd has it. */
static void lines(void **state)
{
	struct place place;

	place_init(&place);
	put(&place, "a/x.conf",
	    "\xef\xbb\xbf# a byte order mark and a comment that ends so: \\\n"
	    "  [Sampling]  \n\t Frequency\t=\t1\\\n# between\n00\n");
	assert_int_equal(load(&place), -EINVAL); /* "1 00": joined by a space */
	put(&place, "a/x.conf",
	    "[Store]\r\nWindowSec=1min \\\n   # between\n  20s\r\n"
	    "[Sampling]\nKernel=off\nFrequency=7");
	assert_int_equal(load(&place), 0);
	assert_int_equal(place.config.window_us, 80000000);
	assert_int_equal(place.config.sampling.frequency, 7);
	assert_false(place.config.sampling.kernel);

	/* assigned nothing: back to what it is without; the last assignment counts */
	put(&place, "a/x.conf", "[Sampling]\nFrequency=7\nKernel=no\nFrequency=\nKernel=yes\n");
	assert_int_equal(load(&place), 0);
	assert_defaults(&place.config);
	place_done(&place);
}

static void drop_ins_by_systemds_rules(void **state)
{
	struct place place;
	char link[128];

	place_init(&place);
	put(&place, "b/x.conf", "[Sampling]\nFrequency=1\nKernel=no\n");
	put(&place, "b/x.conf.d/50-b.conf", "[Sampling]\nFrequency=2\n");
	assert_int_equal(load(&place), 0);
	assert_int_equal(place.config.sampling.frequency, 2);
	assert_false(place.config.sampling.kernel);

	/* the first directory's file takes the place of the second's; drop-ins of both are read */
	put(&place, "a/x.conf", "[Store]\nWindowSec=2s\n");
	assert_int_equal(load(&place), 0);
	assert_true(place.config.sampling.kernel);
	assert_int_equal(place.config.sampling.frequency, 2);

	/* by name, whatever the directory */
	put(&place, "a/x.conf.d/40-a.conf", "[Sampling]\nFrequency=3\n");
	assert_int_equal(load(&place), 0);
	assert_int_equal(place.config.sampling.frequency, 2);
	put(&place, "a/x.conf.d/60-a.conf", "[Sampling]\nFrequency=4\n");
	assert_int_equal(load(&place), 0);
	assert_int_equal(place.config.sampling.frequency, 4);

	/* of one name, that of the first directory */
	put(&place, "a/x.conf.d/50-b.conf", "[Sampling]\nKernel=no\n");
	snprintf(link, sizeof(link), "%s/a/x.conf.d/60-a.conf", place.root);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(load(&place), 0);
	assert_int_equal(place.config.sampling.frequency, 3);
	assert_false(place.config.sampling.kernel);

	/* a link to /dev/null hides */
	snprintf(link, sizeof(link), "%s/a/x.conf.d/50-b.conf", place.root);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink("/dev/null", link), 0);
	assert_int_equal(load(&place), 0);
	assert_int_equal(place.config.sampling.frequency, 3);
	assert_true(place.config.sampling.kernel);

	/* what is no *.conf, or hidden, is none */
	put(&place, "a/x.conf.d/99.conf~", "[Sampling]\nFrequency=5\n");
	put(&place, "a/x.conf.d/.99.conf", "[Sampling]\nFrequency=5\n");
	put(&place, "a/x.conf.d/.conf", "[Sampling]\nFrequency=5\n");
	assert_int_equal(load(&place), 0);
	assert_int_equal(place.config.sampling.frequency, 3);
	place_done(&place);
}

static void what_is_unknown_warns_with_file_and_line(void **state)
{
	struct place place;

	place_init(&place);
	put(&place, "a/x.conf",
	    "Frequency=5\n\n[Sampling]\nfrequency=6\nFrequency=7\n[Elsewhere]\nX=1\n");
	put(&place, "a/x.conf.d/a.conf", "[Store]\nFrequency=8 \\\n 9\nMode=\n");
	assert_int_equal(load(&place), 0);
	assert_string_equal(place.warnings,
			    "/a/x.conf:1: Frequency= is outside of any section, ignored\n"
			    "/a/x.conf:4: unknown key frequency= in [Sampling], ignored\n"
			    "/a/x.conf:7: unknown section [Elsewhere], ignored\n"
			    "/a/x.conf.d/a.conf:2: unknown key Frequency= in [Store], ignored\n"
			    "/a/x.conf.d/a.conf:4: unknown key Mode= in [Store], ignored\n");
	assert_int_equal(place.config.sampling.frequency, 7);
	place_done(&place);
}

static void bad_values_are_refused_with_file_and_line(void **state)
{
	static const char *const bad[] = {
		"[Sampling]\nMode=fast",
		"[Sampling]\nMode=software ; a comment has its own line",
		"[Sampling]\nFrequency=0",
		"[Sampling]\nFrequency=10001",
		"[Sampling]\nFrequency=-1",
		"[Sampling]\nFrequency=99Hz",
		"[Sampling]\nFrequency=18446744073709551617",
		"[Sampling]\nFrequency= 9 9",
		"[Sampling]\nKernel=perhaps",
		"[Sampling]\nUserStacks=dwarf",
		"[Sampling]\nUserStacks=tables frame-pointers",
		"[Sampling]\nEvent=no-such-event",
		"[Sampling]\nEvent=cycles:u",
		"[Sampling]\nCPUs=0-",
		"[Sampling]\nCPUs=all",
		"[Sampling]\nCPUs=0 1",
		"[Sampling]\nCPUs=8192",
		"[Sampling]\nPeriod=0",
		"[Sampling]\nPeriod=1e6",
		"[Sampling]\nBranchFilter=some",
		"[Sampling]\nBranchFilter=any u",
		"[Sampling]\nUnits=nginx",
		"[Sampling]\nUnits=.service",
		"[Sampling]\nUnits=system.slice",
		"[Sampling]\nUnits=/system.slice/nginx.service",
		"[Sampling]\nUsers=no-such-user-as-this",
		"[Sampling]\nUsers=4294967295",
		"[Sampling]\nPids=0",
		"[Sampling]\nPids=self",
		"[Sampling]\nPids=4294967296",
		"[Sampling]\nPids=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17",
		"[Sampling]\nRingSize=3K",
		"[Sampling]\nRingSize=1",
		"[Sampling]\nRingSize=1T",
		"[Sampling]\nRingSize=infinity",
		"[Sampling]\nMaxStacks=10",
		"[Sampling]\nMaxBranches=0x10000",
		"[Store]\nMaxUse=lots",
		"[Store]\nMaxUse=1K",
		"[Store]\nMaxUse=99999999999999T",
		"[Store]\nMaxUse=1..5G",
		"[Store]\nMaxUse=.",
		"[Store]\nMaxUse=5GG",
		"[Store]\nKeepFree=%",
		"[Store]\nKeepFree=100%",
		"[Store]\nKeepFree=-1%",
		"[Store]\nKeepFree=1.5%",
		"[Store]\nKeepFree=4294967297%",
		"[Store]\nKeepFree=99999999999999999999%",
		"[Store]\nKeepFree=infinity",
		"[Store]\nKeepFree=much",
		"[Store]\nMaxRetention=0",
		"[Store]\nMaxRetention=500ms",
		"[Store]\nMaxRetention=101y",
		"[Store]\nMaxRetention=99999w",
		"[Store]\nWindowSec=10 parsecs",
		"[Store]\nWindowSec=10ms",
		"[Store]\nWindowSec=2h",
		"[Store]\nWindowSec=1e3",
		"[Store]\nWindowSec=nan",
		"[Store]\nWindows=10s",
		"[Store]\nWindows=:1h",
		"[Store]\nWindows=10s:",
		"[Store]\nWindows=10s:1h 10s:1d",
		"[Store]\nWindows=1min:1d 10s:1h",
		"[Store]\nWindows=10s:1d 1min:1h",
		"[Store]\nWindows=10s:5s",
		"[Store]\nWindows=10ms:1h",
		"[Store]\nWindows=2h:1d",
		"[Store]\nWindows=10s:1h 2d:90d",
		"[Store]\nWindows=10s:101y",
		"[Store]\nWindows=10s:99999w",
		"[Store]\nWindows=10s:1h,1min:1d",
		"[Store]\nWindows=10s:1h:1d",
		"[Store]\nWindows=-10s:1h",
		"[Store]\nWindows=nan:inf",
		"[Store]\nWindows=1s:1h 2s:1h 3s:1h 4s:1h 5s:1h 6s:1h 7s:1h 8s:1h 9s:1h",
		"[Store]\nno assignment",
		"[Store]\n[Sampling",
		"[Store]\n=5",
	};
	struct place place;
	char expected[64];

	place_init(&place);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		config_init(&place.config);
		put(&place, "b/x.conf.d/bad.conf", bad[i]);
		if (strstr(bad[i], "\n=5")) {
			assert_int_equal(load(&place), 0);
			assert_int_equal(place.n_warnings, 1);
			continue;
		}
		assert_int_equal(load(&place), -EINVAL);
		snprintf(expected, sizeof(expected), "%s/b/x.conf.d/bad.conf:2: ", place.root);
		if (strncmp(place.fault.text, expected, strlen(expected)) != 0)
			fail_msg("%s: %s", bad[i], place.fault.text);
		assert_defaults(&place.config); /* as it was */
	}
	place_done(&place);
}

static void files_of_any_bytes(void **state)
{
	static char bytes[2 << 20];
	struct place place;

	place_init(&place);
	memset(bytes, 'x', sizeof(bytes));
	put_bytes(&place, "a/x.conf", bytes, 9000);
	assert_int_equal(load(&place), -EINVAL);
	assert_non_null(strstr(place.fault.text, "x.conf:1: longer than"));
	put_bytes(&place, "a/x.conf", bytes, sizeof(bytes));
	assert_int_equal(load(&place), -EFBIG);

	/* lines that are short each, but joined are not */
	for (size_t i = 0; i < 20000; i += 100) {
		bytes[i + 98] = '\\';
		bytes[i + 99] = '\n';
	}
	put_bytes(&place, "a/x.conf", bytes, 20000);
	assert_int_equal(load(&place), -EINVAL);

	srandom(1);
	for (int round = 0; round < 300; round++) {
		static const char alphabet[] = "[]=\\\n\n;# \tSamplingMode\0\xff\r9K";
		size_t n = (size_t)random() % 500;

		for (size_t i = 0; i < n; i++)
			bytes[i] = alphabet[(size_t)random() % (sizeof(alphabet) - 1)];
		put_bytes(&place, "a/x.conf", bytes, n);
		if (load(&place) < 0)
			assert_string_not_equal(place.fault.text, "");
	}
	place_done(&place);
}

static void what_is_no_file(void **state)
{
	struct place place;
	char path[128];

	place_init(&place);
	snprintf(path, sizeof(path), "%s/a/x.conf.d/directory.conf", place.root);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(load(&place), -EINVAL);
	rmdir(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(load(&place), -EINVAL); /* and does not wait for a writer */
	unlink(path);
	assert_int_equal(symlink("/nowhere", path), 0);
	assert_int_equal(load(&place), 0);
	place_done(&place);
}

static void one_path(void **state)
{
	struct place place;
	char path[128];

	place_init(&place);
	put(&place, "a/x.conf", "[Sampling]\nFrequency=11\n");
	put(&place, "a/x.conf.d/1.conf", "[Sampling]\nKernel=no\n");
	snprintf(path, sizeof(path), "%s/a/x.conf", place.root);
	assert_int_equal(config_load_path(&place.config, path, on_warning, &place, &place.fault),
			 0);
	assert_int_equal(place.config.sampling.frequency, 11);
	assert_false(place.config.sampling.kernel);
	snprintf(path, sizeof(path), "%s/a/y.conf", place.root);
	assert_int_equal(config_load_path(&place.config, path, on_warning, &place, &place.fault),
			 -ENOENT);
	place_done(&place);
}

static void values(void **state)
{
	uint64_t value;
	bool flag;

	assert_int_equal(config_value_bytes("1.5G", &value), 0);
	assert_int_equal(value, 3LL << 29);
	assert_int_equal(config_value_bytes("100", &value), 0);
	assert_int_equal(value, 100);
	assert_int_equal(config_value_bytes("7 K", &value), 0);
	assert_int_equal(value, 7168);
	assert_int_equal(config_value_bytes("infinity", &value), 0);
	assert_int_equal(value, 0);
	assert_int_equal(config_value_bytes("", &value), -EINVAL);
	assert_int_equal(config_value_bytes("1K 1K", &value), -EINVAL);
	assert_int_equal(config_value_span_us("1h 1min 1s 1ms 1us", &value), 0);
	assert_int_equal(value, 3661001001);
	assert_int_equal(config_value_span_us("0.5", &value), 0);
	assert_int_equal(value, 500000);
	assert_int_equal(config_value_span_us("1min30", &value), 0);
	assert_int_equal(value, 90000000);
	assert_int_equal(config_value_span_us("", &value), -EINVAL);
	assert_int_equal(config_value_span_us("s", &value), -EINVAL);
	assert_int_equal(config_value_span_us("9999999999999999999", &value), -ERANGE);
	assert_int_equal(config_value_bool("TRUE", &flag), 0);
	assert_true(flag);
	assert_int_equal(config_value_bool("", &flag), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_files_there_are_defaults),
		cmocka_unit_test(every_key),
		cmocka_unit_test(windows_of_several_lengths),
		cmocka_unit_test(stacks_of_each_kind),
		cmocka_unit_test(lines),
		cmocka_unit_test(drop_ins_by_systemds_rules),
		cmocka_unit_test(what_is_unknown_warns_with_file_and_line),
		cmocka_unit_test(bad_values_are_refused_with_file_and_line),
		cmocka_unit_test(files_of_any_bytes),
		cmocka_unit_test(what_is_no_file),
		cmocka_unit_test(one_path),
		cmocka_unit_test(values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
