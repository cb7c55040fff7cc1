/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Sound recordings in all their shapes; what is not sound is in test-recording-damage.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/record/perf-file.h"
#include "common/record/recording.h"
#include "tests/perfdata/example.h"
#include "tests/perfdata/perfdata.h"

struct seen {
	enum event_kind kinds[64];
	uint64_t times[64];
	uint32_t sources[64];
	uint32_t n_rows;
	size_t n, n_build_ids;
};

static void read_path(const char *path, struct seen *seen)
{
	_cleanup_(recording_freep) struct recording *r = NULL;
	uint64_t done, all;
	struct fault fault;
	struct event e;
	int k;

	*seen = (struct seen){ 0 };
	if (recording_open(&r, path, false, &fault) < 0)
		fail_msg("%s", fault.text);
	while ((k = recording_next(r, &e, &fault)) > 0) {
		if (e.kind == EVENT_BUILD_ID) {
			assert_string_equal(e.build_id.path, "/usr/lib/libexample.so");
			assert_int_equal(e.build_id.n_build_id, 20);
			assert_int_equal(e.build_id.build_id[0], 9);
			assert_false(e.build_id.kernel);
			seen->n_build_ids++;
			continue;
		}
		assert_true(seen->n < 64);
		seen->kinds[seen->n] = e.kind;
		seen->times[seen->n] = e.time_ns;
		seen->sources[seen->n++] = e.source;
		if (e.kind != EVENT_SAMPLE)
			continue;
		seen->n_rows += e.sample.n_rows;
		assert_int_equal((uintptr_t)e.sample.rows % sizeof(uint64_t), 0);
	}
	if (k < 0)
		fail_msg("%s", fault.text);
	assert_null(recording_forced(r));
	assert_int_equal(recording_n_out_of_order(r), 0);
	recording_progress(r, &done, &all);
	assert_true(all > 0);
	assert_int_equal(done, all);
	assert_int_equal(recording_next(r, &e, &fault), 0); /* the end is the end */
}

static void check_read(const char *path)
{
	static const enum event_kind kinds[EXAMPLE_N_EVENTS] = {
		EVENT_MAPPING, EVENT_COMM,     EVENT_MAPPING, EVENT_MAPPING, EVENT_FORK,
		EVENT_SAMPLE,  EVENT_SAMPLE,   EVENT_SAMPLE,  EVENT_SAMPLE,  EVENT_LOST,
		EVENT_LOST,    EVENT_THROTTLE, EVENT_EXIT,
	};
	static const uint64_t times[EXAMPLE_N_EVENTS] = { 1000, 1000, 1001, 1001, 1002, 1005, 1007,
							  1008, 1010, 1020, 1020, 1020, 1020 };
	static const uint32_t sources[EXAMPLE_N_EVENTS] = { 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0 };
	struct seen seen;

	read_path(path, &seen);
	assert_int_equal(seen.n, EXAMPLE_N_EVENTS);
	assert_memory_equal(seen.kinds, kinds, sizeof(kinds));
	assert_memory_equal(seen.times, times, sizeof(times));
	assert_memory_equal(seen.sources, sources, sizeof(sources));
	assert_int_equal(seen.n_rows, 8);
	assert_int_equal(seen.n_build_ids, 1);
}

static void check_example(struct example *e)
{
	char path[32];
	int fd;

	example_open(e, e->n, path, &fd);
	check_read(path);
	close(fd);
	example_done(e);
}

static void test_normal_and_pipe_mode(void **state)
{
	struct example e;

	example_make(&e, 0);
	check_example(&e);
	example_make(&e, PERFDATA_PIPE);
	check_example(&e);
}

static void test_packed(void **state)
{
	static const size_t pieces[] = { 1, 50, 177, 60000 };

	for (unsigned int flags = 0; flags <= PERFDATA_PIPE; flags += PERFDATA_PIPE) {
		struct example plain, packed;

		example_make(&plain, flags);
		for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
			example_pack(&packed, &plain, RECORD_COMPRESSED, pieces[i]);
			check_example(&packed);
			example_pack(&packed, &plain, RECORD_COMPRESSED2, pieces[i]);
			check_example(&packed);
		}
		example_done(&plain);
	}
}

/* Makes samples of a kind yet to come of all samples; their number. */
static size_t change_samples(struct example *e, uint32_t type)
{
	size_t n = 0, at = example_data_start(e);

	while (at < example_data_end(e)) {
		struct perf_event_header *h = (void *)(e->data + at);

		n += h->type == PERF_RECORD_SAMPLE;
		h->type = h->type == PERF_RECORD_SAMPLE ? type : h->type;
		at += h->size;
	}
	return n;
}

static void assert_unknown(struct example *e, size_t n)
{
	_cleanup_(recording_freep) struct recording *r = NULL;
	size_t n_samples = 0, n_events = 0;
	struct fault fault;
	struct event event;
	char path[32];
	int fd;

	example_open(e, e->n, path, &fd);
	if (recording_open(&r, path, false, &fault) < 0)
		fail_msg("%s", fault.text);
	while (recording_next(r, &event, &fault) > 0) {
		n_samples += event.kind == EVENT_SAMPLE;
		n_events++;
	}
	assert_int_equal(n_samples, n > 0 ? 0 : 4);
	assert_true(n_events > 4);
	assert_int_equal(recording_n_unknown(r), n);
	close(fd);
}

/* Samples do not vanish without a word: of the kernel's kinds, of perf's own, packed or not. */
static void test_records_of_unknown_kinds_are_counted(void **state)
{
	static const uint32_t types[] = { PERF_RECORD_SAMPLE, 0, 60, 85, 200, UINT32_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct example plain, packed;
		size_t n;

		example_make(&plain, 0);
		n = change_samples(&plain, types[i]);
		assert_int_equal(n, 4);
		n = types[i] == PERF_RECORD_SAMPLE ? 0 : n;
		assert_unknown(&plain, n);
		example_pack(&packed, &plain, RECORD_COMPRESSED2, 100);
		assert_unknown(&packed, n);
		example_done(&packed);
		example_done(&plain);
	}
}

static void test_records_that_lie_askew(void **state)
{
	struct example plain, shifted;

	example_make(&plain, 0);
	for (size_t by = 0; by < 9; by++) {
		example_shift(&shifted, &plain, by);
		check_example(&shifted);
	}
	example_done(&plain);
}

/* What cannot be mapped is copied first. */
static void test_from_a_pipe(void **state)
{
	for (unsigned int flags = 0; flags <= PERFDATA_PIPE; flags += PERFDATA_PIPE) {
		struct example e;
		char path[32];
		int fds[2];

		example_make(&e, flags);
		assert_int_equal(pipe(fds), 0);
		assert_int_equal(write(fds[1], e.data, e.n), e.n); /* it fits */
		close(fds[1]);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
		check_read(path);
		close(fds[0]);
		example_done(&e);
	}
}

static void test_what_the_file_says_of_itself(void **state)
{
	for (unsigned int flags = 0; flags <= PERFDATA_PIPE; flags += PERFDATA_PIPE) {
		_cleanup_(recording_freep) struct recording *r = NULL;
		const struct recording_info *info;
		struct fault fault;
		struct example e;
		struct event event;
		char path[32];
		int fd;

		example_make(&e, flags);
		example_open(&e, e.n, path, &fd);
		assert_int_equal(recording_open(&r, path, false, &fault), 0);
		while (recording_next(r, &event, &fault) > 0)
			;
		info = recording_info(r);
		assert_string_equal(info->hostname, "host");
		assert_string_equal(info->os_release, "6.1.0");
		assert_string_equal(info->cpu, "A CPU");
		assert_string_equal(info->cpuid, "GenuineIntel,6,85,4");
		assert_int_equal(info->n_cpus, 4);
		assert_int_equal(info->machine, EM_AARCH64);
		assert_int_equal(info->depth, 32);
		assert_true(recording_is_wiped(r)); /* 6.1, and no command's */
		assert_int_equal(recording_n_sources(r), 2);
		assert_string_equal(recording_source_name(r, 0), "cycles:u");
		assert_string_equal(recording_source_name(r, 1), "instructions:u");
		assert_int_equal(recording_attr(r, 1)->config, 1);
		close(fd);
		example_done(&e);
	}
}

static void put_string(char *to, const char *s)
{
	memcpy(to, s, strlen(s) + 1);
}

/* An event without a name of its own gets perf's for it, until a record tells a better one. */
static void test_names_of_events(void **state)
{
	static const uint64_t id = 5;
	struct perfdata_event event = {
		.attr = { .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, .config = 3 },
		.name = "told in a feature",
		.ids = &id,
		.n_ids = 1,
	};
	_Alignas(8) char update[48] = { 0 };
	struct perf_event_header h = { .type = RECORD_EVENT_UPDATE, .size = sizeof(update) };
	_cleanup_(recording_freep) struct recording *r = NULL;
	uint64_t what = EVENT_UPDATE_NAME;
	struct perfdata *p = NULL;
	struct event e;
	struct fault fault;
	struct example file = { 0 };
	char path[32];
	int fd;

	example_open(&file, 0, path, &fd);
	memcpy(update, &h, sizeof(h));
	memcpy(update + 8, &what, 8);
	memcpy(update + 16, &id, 8);
	put_string(update + 24, "told later");
	assert_int_equal(perfdata_new(&p, path, PERFDATA_PIPE, &event, 1), 0);
	perfdata_add_raw(p, update, sizeof(update));
	assert_int_equal(perfdata_finish(p), 0);
	perfdata_free(p);
	assert_int_equal(recording_open(&r, path, false, &fault), 0);
	assert_int_equal(recording_n_sources(r), 0);
	assert_int_equal(recording_next(r, &e, &fault), 0);
	assert_int_equal(recording_n_sources(r), 1);
	assert_string_equal(recording_source_name(r, 0), "told later");
	close(fd);
}

/* attr.size from the first to one longer than any yet, each attr followed by its ids. */
static void test_attrs_of_all_sizes(void **state)
{
	static const uint32_t sizes[] = { 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 256 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		const size_t n_record = 8 + sizes[i] + 8, n = 16 + n_record + 24;
		_cleanup_(recording_freep) struct recording *r = NULL;
		struct perf_event_attr attr = { .size = sizes[i], .config = 1 };
		struct perf_event_header h = { .type = RECORD_HEADER_ATTR };
		uint64_t words[3] = { 0, 7, 0x401000 }, magic[2] = { PERF_FILE_MAGIC_2, 16 };
		struct example file = { calloc(1, n), n };
		struct fault fault;
		struct event e;
		char path[32];
		int fd;

		attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
		h.size = (uint16_t)n_record;
		memcpy(file.data, magic, 16);
		memcpy(file.data + 16, &h, 8);
		memset(file.data + 24, 0x5a, sizes[i]); /* of what is not known, nothing is read */
		memcpy(file.data + 24, &attr, MIN(sizeof(attr), (size_t)sizes[i]));
		memcpy(file.data + 24 + sizes[i], &words[1], 8);
		h = (struct perf_event_header){ .type = PERF_RECORD_SAMPLE, .size = 24 };
		memcpy(words, &h, 8);
		memcpy(file.data + 16 + n_record, words, sizeof(words));

		example_open(&file, n, path, &fd);
		assert_int_equal(recording_open(&r, path, false, &fault), 0);
		assert_int_equal(recording_next(r, &e, &fault), 1);
		assert_int_equal(e.kind, EVENT_SAMPLE);
		assert_int_equal(e.sample.ip, 0x401000);
		assert_int_equal(recording_attr(r, 0)->config, 1);
		assert_int_equal(recording_next(r, &e, &fault), 0);
		assert_string_equal(recording_source_name(r, 0), "instructions");
		close(fd);
		example_done(&file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_normal_and_pipe_mode),
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_records_of_unknown_kinds_are_counted),
		cmocka_unit_test(test_records_that_lie_askew),
		cmocka_unit_test(test_from_a_pipe),
		cmocka_unit_test(test_what_the_file_says_of_itself),
		cmocka_unit_test(test_names_of_events),
		cmocka_unit_test(test_attrs_of_all_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
