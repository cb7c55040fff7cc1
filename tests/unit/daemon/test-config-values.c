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
#include <unistd.h>

#include "common/util/macro.h"
#include "tests/support/config-place.h"

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
	struct config_place place;

	config_place_init(&place);
	config_place_put(
		&place, "a/x.conf",
		"[Sampling]\nMode=software\nFrequency = 999\nKernel=no\nRingSize=256K\n"
		"MaxStacks=5000\nMaxBranches=6000\nEvent=branches\nCPUs=0-3,8\nPeriod="
		"1000003\nUserStacks=tables\n"
		"BranchFilter=any_call,u\nUnits=nginx.service  session-1.scope\n"
		"CpuBudget=0.25 %\nCaptureShare=15%\nHotShare=10%\nUsers=root 4000\nPids= 17 4711 "
		"\n\n[Store]\nMaxUse=2G\nWindowSec=1min 30s\n"
		"MaxRetention=30d\nKeepFree=1.5G\n");
	assert_int_equal(config_place_load(&place), 0);
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
	assert_int_equal(place.config.cpu_budget_ppm, 2500);
	assert_true(place.config.sampling.capture_share == 0.15);
	assert_true(place.config.sampling.hot_share == 0.1);
	assert_int_equal(place.config.max_stacks, 5000);
	assert_int_equal(place.config.max_branches, 6000);
	assert_int_equal(place.config.max_use_bytes, 2LL << 30);
	assert_int_equal(place.config.keep_free.bytes, 3LL << 29);
	assert_int_equal(place.config.keep_free.percent, 0);
	config_place_put(&place, "a/x.conf.d/a.conf", "[Store]\nKeepFree=15%\n");
	assert_int_equal(config_place_load(&place), 0);
	assert_int_equal(place.config.keep_free.bytes, 0);
	assert_int_equal(place.config.keep_free.percent, 15);
	assert_int_equal(place.config.max_retention_us, 30 * 86400000000ULL);
	assert_int_equal(place.config.window_us, 90000000);
	config_place_done(&place);
}

static void assert_tier(const struct store_tier *tier, uint64_t length_s, uint64_t keep_s)
{
	assert_int_equal(tier->length_us, length_s * 1000000);
	assert_int_equal(tier->keep_us, keep_s * 1000000);
}

static void windows_of_several_lengths(void **state)
{
	const struct store_tiers *tiers;
	struct config_place place;

	config_place_init(&place);
	tiers = &place.config.tiers;
	assert_int_equal(config_place_load(&place), 0);
	assert_int_equal(tiers->n, 4);
	assert_tier(&tiers->rows[0], 10, 3600);
	assert_tier(&tiers->rows[3], 3600, 90 * 86400);
	config_place_put(&place, "a/x.conf", "[Store]\nWindows=5s:10min  90sec:1d\t20min:2weeks\n");
	assert_int_equal(config_place_load(&place), 0);
	assert_int_equal(tiers->n, 3);
	assert_tier(&tiers->rows[0], 5, 600);
	assert_tier(&tiers->rows[1], 90, 86400);
	assert_tier(&tiers->rows[2], 1200, 14 * 86400);
	assert_int_equal(place.config.window_us, 5000000);
	config_place_put(&place, "a/x.conf", "[Store]\nWindowSec=20s\nWindows=5s:10min\n");
	assert_int_equal(config_place_load(&place), 0);
	assert_int_equal(tiers->n, 1);
	assert_int_equal(place.config.window_us, 20000000);
	config_place_put(&place, "a/x.conf", "[Store]\nWindows=5s:10min\nWindows=\n");
	assert_int_equal(config_place_load(&place), 0);
	assert_int_equal(tiers->n, 4); /* the default */
	config_place_done(&place);
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
	struct config_place place;
	char text[64];

	config_place_init(&place);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		snprintf(text, sizeof(text), "[Sampling]\nUserStacks=%s\n", kinds[i].name);
		config_place_put(&place, "a/x.conf", text);
		assert_int_equal(config_place_load(&place), 0);
		assert_string_equal(place.warnings, "");
		assert_int_equal(place.config.sampling.user_stacks, kinds[i].stacks);
		assert_string_equal(sampler_user_stacks_name(kinds[i].stacks), kinds[i].name);
	}
	config_place_done(&place);
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
		"[Sampling]\nCpuBudget=0.2",
		"[Sampling]\nCpuBudget=0.001%",
		"[Sampling]\nCpuBudget=101%",
		"[Sampling]\nCpuBudget=-1%",
		"[Sampling]\nCpuBudget=%",
		"[Sampling]\nCpuBudget=none",
		"[Sampling]\nCaptureShare=0%",
		"[Sampling]\nCaptureShare=101%",
		"[Sampling]\nCaptureShare=0.15",
		"[Sampling]\nHotShare=101%",
		"[Sampling]\nHotShare=1",
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
	struct config_place place;
	char expected[64];

	config_place_init(&place);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		config_init(&place.config);
		config_place_put(&place, "b/x.conf.d/bad.conf", bad[i]);
		if (strstr(bad[i], "\n=5")) {
			assert_int_equal(config_place_load(&place), 0);
			assert_int_equal(place.n_warnings, 1);
			continue;
		}
		assert_int_equal(config_place_load(&place), -EINVAL);
		snprintf(expected, sizeof(expected), "%s/b/x.conf.d/bad.conf:2: ", place.root);
		if (strncmp(place.fault.text, expected, strlen(expected)) != 0)
			fail_msg("%s: %s", bad[i], place.fault.text);
		assert_config_defaults(&place.config); /* as it was */
	}
	config_place_done(&place);
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
		cmocka_unit_test(every_key),
		cmocka_unit_test(windows_of_several_lengths),
		cmocka_unit_test(stacks_of_each_kind),
		cmocka_unit_test(bad_values_are_refused_with_file_and_line),
		cmocka_unit_test(values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
