/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is mapped where: in a process, in the kernel, and as which object. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "tests/support/process-events.h"

static void test_a_mapping_over_what_was_sampled(void **state)
{
	struct processes *p = make();
	struct process_context *old;

	comm(p, 5, 5, "x", true);
	map(p, 5, 0x1000, "/bin/x");
	map(p, 5, 0x8000, "/lib/one.so");
	old = processes_find(p, 5);
	map(p, 5, 0x8800, "/lib/two.so"); /* nobody has looked: in place */
	assert_ptr_equal(processes_find(p, 5), old);
	assert_string_equal(path_at(p, old, 0x8800), "/lib/two.so");

	process_context_ref(old)->context = SAMPLED;
	map(p, 5, 0xa000, "/lib/beside.so");
	map(p, 5, 0x1000, "/bin/x"); /* the very same place of the same file */
	assert_ptr_equal(processes_find(p, 5)->space, old->space);
	map(p, 5, 0x8800, "/lib/three.so");
	assert_ptr_not_equal(processes_find(p, 5), old);
	assert_at(p, 5, 0x8900, "/lib/three.so");
	assert_at(p, 5, 0x1000, "/bin/x");
	assert_string_equal(processes_find(p, 5)->executable, "/bin/x");
	assert_string_equal(path_at(p, old, 0xa000), "/lib/beside.so");
	assert_string_equal(path_at(p, old, 0x1000), "/bin/x");
	process_context_unref(old);
	processes_free(p);
}

static void test_data_mapped_over_code(void **state)
{
	struct processes *p = make();
	struct process_context *old;

	map(p, 5, 0x1000, "/bin/x");
	map_as(p, 5, 0x7000, "/etc/data", false);
	assert_at(p, 5, 0x7000, "nothing");
	old = processes_find(p, 5);
	process_context_ref(old)->context = SAMPLED;
	map_as(p, 5, 0x1800, "/etc/data", false);
	assert_at(p, 5, 0x1900, "nothing");
	assert_at(p, 5, 0x1700, "/bin/x");
	assert_string_equal(path_at(p, old, 0x1900), "/bin/x");
	process_context_unref(old);
	processes_free(p);
}

static void assert_object(struct processes *p, uint64_t address, enum object_kind kind,
			  const char *path, uint64_t base, uint64_t offset)
{
	const struct mapping *m = processes_locate(p, processes_find(p, 5), address);

	assert_non_null(m);
	assert_int_equal(m->object->what.kind, kind);
	assert_string_equal(m->object->what.path, path);
	assert_int_equal(m->object->what.base, base);
	assert_int_equal(address + m->shift, offset);
}

static void test_kinds_of_objects_and_their_offsets(void **state)
{
	struct processes *p = make();

	comm(p, 5, 5, "x", false);
	map(p, 5, 0x1000, "/bin/x");
	map(p, 5, 0x3000, "[vdso]");
	map(p, 5, 0x5000, "//anon");
	map(p, 5, 0x7000, "/memfd:jit (deleted)");
	map(p, 5, 0x9000, "[heap]");
	map(p, 5, 0xb000, "anon_inode:[perf_event]");
	assert_object(p, 0x1010, OBJECT_FILE, "/bin/x", 0, 0x510);
	assert_object(p, 0x3010, OBJECT_VDSO, "[vdso]", 0, 0x10);
	assert_object(p, 0x5010, OBJECT_MEMORY, "perf-5.map", 0, 0x5010);
	assert_object(p, 0x7010, OBJECT_FILE, "/memfd:jit (deleted)", 0, 0x510);
	assert_object(p, 0x9010, OBJECT_MEMORY, "[heap]", 0, 0x9010);
	assert_object(p, 0xb010, OBJECT_MEMORY, "anon_inode:[perf_event]", 0, 0xb010);
	assert_string_equal(processes_find(p, 5)->executable, "/bin/x");
	processes_free(p);
}

/* The memory of one process is not that of another; children run what their parent compiled. */
static void test_anonymous_memory_is_its_process_s(void **state)
{
	struct processes *p = make();
	struct process_context *old;

	map(p, 5, 0x1000, "//anon");
	map(p, 5, 0x3000, "[anon:v8]");
	map(p, 5, 0x5000, "/anon_hugepage (deleted)");
	map(p, 6, 0x1000, "//anon");
	fork_at(p, 5, 7, 7, 100, false);
	map(p, 7, 0x7000, "//anon");
	assert_at(p, 5, 0x1000, "perf-5.map");
	assert_at(p, 5, 0x3000, "perf-5.map");
	assert_at(p, 5, 0x5000, "perf-5.map");
	assert_at(p, 6, 0x1000, "perf-6.map");
	assert_at(p, 7, 0x1000, "perf-5.map");
	assert_at(p, 7, 0x7000, "perf-7.map");
	old = process_context_ref(processes_find(p, 7));
	fork_at(p, 6, 7, 7, 200, false);
	map(p, 7, 0x7000, "//anon");
	assert_ptr_equal(processes_locate(p, old, 0x7000)->object,
			 processes_locate(p, processes_find(p, 7), 0x7000)->object);
	process_context_unref(old);

	processes_keep_generations(p);
	fork_at(p, 6, 8, 8, 300, false);
	map(p, 8, 0x7000, "//anon");
	old = process_context_ref(processes_find(p, 8));
	fork_at(p, 6, 8, 8, 400, false);
	map(p, 8, 0x7000, "//anon");
	assert_at(p, 8, 0x7000, "perf-8.map");
	assert_ptr_not_equal(processes_locate(p, old, 0x7000)->object,
			     processes_locate(p, processes_find(p, 8), 0x7000)->object);
	process_context_unref(old);
	processes_free(p);
}

static void test_the_kernel_is_everybody_s(void **state)
{
	struct event e = { .kind = EVENT_KSYMBOL,
			   .ksymbol = { .address = 0xffffffffc0100000,
					.n_bytes = 0x80,
					.name = "bpf_prog_12_x" } };
	struct processes *p = make();

	map_kernel(p, 0xffffffff81000000, 0x3fffffff, 0xffffffff81000000, "[kernel.kallsyms]_text");
	map_kernel(p, 0xffffffffc0000000, 0x8000, 0, "/lib/modules/6.1/kernel/nf-tables.ko.xz");
	map_kernel(p, 0xffffffffc0010000, 0x8000, 0, "[ext4]");
	apply(p, &e);
	assert_object(p, 0xffffffff81000123, OBJECT_KERNEL, "[kernel]", 0xffffffff81000000, 0x123);
	assert_object(p, 0xffffffffc0000010, OBJECT_MODULE, "[nf_tables]", 0xffffffffc0000000,
		      0x10);
	assert_object(p, 0xffffffffc0010020, OBJECT_MODULE, "[ext4]", 0xffffffffc0010000, 0x20);
	assert_object(p, 0xffffffffc0100040, OBJECT_MODULE, "[bpf_prog_12_x]", 0xffffffffc0100000,
		      0x40);
	assert_at(p, 999, 0xffffffffc0010020, "[ext4]");
	assert_at(p, 5, 0xffffffff80ffffff, "nothing");
	map_kernel(p, 0xffffffff82000000, 0x1000, 0, "[guest.kernel.kallsyms]");
	assert_at(p, 5, 0xffffffff82000000, "[kernel]");
	processes_free(p);
}

static void tell_build_id(struct processes *p, const char *path, uint8_t first)
{
	struct event e = { .kind = EVENT_BUILD_ID,
			   .build_id = { .path = path, .build_id = { first }, .n_build_id = 20 } };

	apply(p, &e);
}

static void assert_build_id(struct processes *p, uint64_t address, uint8_t n, uint8_t first)
{
	const struct mapping *m = processes_locate(p, processes_find(p, 5), address);

	assert_int_equal(m->object->what.n_build_id, n);
	if (n > 0)
		assert_int_equal(m->object->what.build_id[0], first);
}

static void test_build_ids_told_apart(void **state)
{
	struct event e = { .kind = EVENT_MAPPING,
			   .pid = 5,
			   .mapping = { .address = 0x7000,
					.n_bytes = 0x1000,
					.path = "/bin/b",
					.build_id = { 99 },
					.n_build_id = 16,
					.executable = true } };
	struct processes *p = make();

	tell_build_id(p, "/bin/a", 1);
	tell_build_id(p, "/bin/b", 2);
	map(p, 5, 0x1000, "/bin/a"); /* after it was told */
	map(p, 5, 0x3000, "/bin/c"); /* before */
	map(p, 5, 0x5000, "/bin/b");
	apply(p, &e); /* knows better itself */
	tell_build_id(p, "/bin/c", 3);
	assert_build_id(p, 0x1000, 20, 1);
	assert_build_id(p, 0x3000, 20, 3);
	assert_build_id(p, 0x5000, 20, 2);
	assert_build_id(p, 0x7000, 16, 99);

	tell_build_id(p, "/bin/a", 1); /* told again */
	assert_build_id(p, 0x1000, 20, 1);
	tell_build_id(p, "/bin/a", 4); /* it changed meanwhile: who knows which was sampled */
	assert_build_id(p, 0x1000, 0, 0);
	tell_build_id(p, "/bin/a", 1);
	assert_build_id(p, 0x1000, 0, 0);
	assert_build_id(p, 0x7000, 16, 99);
	processes_free(p);
}

/* The same file is one object, whoever maps it. */
static void test_objects_are_shared(void **state)
{
	struct processes *p = make();
	const struct mapping *a, *b;

	map(p, 5, 0x1000, "/lib/libc.so");
	map(p, 6, 0x9000, "/lib/libc.so");
	a = processes_locate(p, processes_find(p, 5), 0x1000);
	b = processes_locate(p, processes_find(p, 6), 0x9000);
	assert_ptr_equal(a->object, b->object);
	processes_free(p);
}

/* A machine that starts programs all day: objects that nobody maps are forgotten. */
static void test_objects_not_in_use_are_forgotten(void **state)
{
	struct processes *p = make();
	char path[32];

	for (int i = 0; i < 20000; i++) {
		comm(p, 5, 5, "x", true);
		snprintf(path, sizeof(path), "/tmp/program-%d", i);
		map(p, 5, 0x1000, path);
	}
	assert_at(p, 5, 0x1000, "/tmp/program-19999");
	processes_free(p);
}

struct scan {
	struct processes *processes;
	int n;
};

static void on_scan(void *userdata)
{
	struct scan *scan = userdata;

	scan->n++;
	map_kernel(scan->processes, 0xffffffffc0000000, 0x1000, 0, "[late]");
}

/* By an address of the kernel that nobody has mapped. */
static void test_the_rest_of_the_kernel_is_sought_when_it_is_needed(void **state)
{
	struct processes *p = make();
	struct scan scan = { .processes = p };

	processes_scan_kernel(p, on_scan, &scan);
	map_kernel(p, 0xffffffff81000000, 0x1000, 0, "[kernel.kallsyms]");
	assert_at(p, 5, 0xffffffff81000010, "[kernel]");
	assert_at(p, 5, 0x1000, "nothing");
	assert_at(p, 5, 0x9090909090909090, "nothing");
	assert_int_equal(scan.n, 0);
	assert_at(p, 5, 0xffffffffc0000010, "[late]");
	assert_int_equal(scan.n, 1);
	assert_at(p, 5, 0xffffffffc0000020, "[late]");
	assert_int_equal(scan.n, 1);
	assert_at(p, 5, 0xffffffffd0000000, "nothing");
	assert_int_equal(scan.n, 2);
	processes_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_rest_of_the_kernel_is_sought_when_it_is_needed),
		cmocka_unit_test(test_a_mapping_over_what_was_sampled),
		cmocka_unit_test(test_data_mapped_over_code),
		cmocka_unit_test(test_kinds_of_objects_and_their_offsets),
		cmocka_unit_test(test_anonymous_memory_is_its_process_s),
		cmocka_unit_test(test_the_kernel_is_everybody_s),
		cmocka_unit_test(test_build_ids_told_apart),
		cmocka_unit_test(test_objects_are_shared),
		cmocka_unit_test(test_objects_not_in_use_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
