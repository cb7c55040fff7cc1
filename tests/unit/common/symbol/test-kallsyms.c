/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/symbol/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "common/object/build-id.h"
#include "common/util/cleanup.h"

static const char some_text[] = "0000000000001000 A percpu_thing\n"
				"ffffffff9a000000 T _text\n"
				"ffffffff9a000000 T startup_64\n"
				"ffffffff9a001000 T _stext\n"
				"ffffffff9a001000 t first_one\n"
				"ffffffff9a001040 W weak_one\n"
				"ffffffff9a001040 t __local_one\n"
				"ffffffff9a001100 T last_one\n"
				"ffffffff9a001180 D some_data\n"
				"ffffffff9b000000 T after_data\n"
				"not a line\n"
				"ffffffffc0a02000 t mod_b_init\t[mod_b]\n"
				"ffffffffc0a00010 t mod_a_first\t[mod_a]\n"
				"ffffffffc0a00050 T mod_a_second\t[mod_a]\n"
				"ffffffffc0a00090 d mod_a_data\t[mod_a]\n"
				"ffffffffc0a03000 t bpf_prog_6deef7357e7b4530_f\t[bpf]\n";

/* A file of that text, as long as the process keeps it. */
static const char *file_of(const char *text)
{
	static char path[64];
	int fd = memfd_create("kallsyms", 0);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

static struct symbol_table *read_object(const char *text, const struct profile_object *object)
{
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;
	struct symbol_table *table;
	struct fault why;

	assert_int_equal(kallsyms_new(&k, file_of(text), NULL, NULL), 0);
	assert_int_equal(kallsyms_read_object(k, object, &table, &why), 0);
	return table; /* does not need the other any more */
}

static const char *at(struct symbol_table *table, uint64_t offset)
{
	size_t i = symbol_table_find(table, offset);

	return i == SYMBOL_TABLE_NONE ? "-" : symbol_table_name(table, i);
}

static void test_kernel_offsets_count_from_text(void **state)
{
	struct profile_object kernel = { .kind = OBJECT_KERNEL, .path = "[kernel]" };
	_cleanup_(symbol_table_freep) struct symbol_table *t = read_object(some_text, &kernel);

	assert_string_equal(at(t, 0), "startup_64");
	assert_string_equal(at(t, 0xfff), "startup_64");
	assert_string_equal(at(t, 0x1000), "_stext"); /* global, the other is local */
	assert_string_equal(at(t, 0x1040), "weak_one");
	assert_string_equal(at(t, 0x10ff), "weak_one");
	assert_string_equal(at(t, 0x1100), "last_one");
	assert_string_equal(at(t, 0x117f), "last_one");
	assert_string_equal(at(t, 0x1180), "-");
	assert_string_equal(at(t, 0x1000000), "after_data");
	assert_string_equal(at(t, 0x1000fff), "after_data");
	assert_string_equal(at(t, 0x1001000), "-");
	assert_string_equal(at(t, 0x1000 - 0xffffffff9a000000), "-");
}

static void test_or_from_stext_where_the_base_is_that(void **state)
{
	struct profile_object kernel = {
		.kind = OBJECT_KERNEL,
		.path = "[kernel]",
		.base = 0xffffffff9a001000,
	};
	_cleanup_(symbol_table_freep) struct symbol_table *t = read_object(some_text, &kernel);

	assert_string_equal(at(t, 0x40), "weak_one");
	assert_string_equal(at(t, (uint64_t)-0x1000), "startup_64");
}

static void test_modules_count_from_the_page_of_their_lowest_function(void **state)
{
	struct profile_object module = { .kind = OBJECT_MODULE, .path = "[mod_a]" };
	_cleanup_(symbol_table_freep) struct symbol_table *t = read_object(some_text, &module);

	assert_string_equal(at(t, 0x0f), "-");
	assert_string_equal(at(t, 0x10), "mod_a_first");
	assert_string_equal(at(t, 0x50), "mod_a_second");
	assert_string_equal(at(t, 0x8f), "mod_a_second");
	assert_string_equal(at(t, 0x90), "-");
	assert_int_equal(symbol_table_count(t), 2);
}

static int try(const char *text, const struct profile_object *object, struct fault *why)
{
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;
	struct symbol_table *table = NULL;
	int r;

	assert_int_equal(kallsyms_new(&k, text ? file_of(text) : NULL, NULL, NULL), 0);
	r = kallsyms_read_object(k, object, &table, why);
	symbol_table_free(table);
	return r;
}

static void test_hidden_symbols_are_said_to_be(void **state)
{
	const char *text = "0000000000000000 T _text\n0000000000000000 T startup_64\n";
	struct profile_object kernel = { .kind = OBJECT_KERNEL, .path = "[kernel]" };
	struct fault why;

	assert_int_equal(try(text, &kernel, &why), -EPERM);
	assert_int_equal(strncmp(why.text, "kernel symbols are hidden: ", 27), 0);
	assert_int_equal(try("", &kernel, &why), -ENODATA);
	assert_int_equal(try("ffffffff9a000000 T startup_64\n", &kernel, &why), -ENOENT);
}

static void test_an_unknown_module_is_not_found(void **state)
{
	struct profile_object module = { .kind = OBJECT_MODULE, .path = "[mod_c]" };
	struct fault why;

	assert_int_equal(try(some_text, &module, &why), -ENOENT);
}

static void test_a_file_that_is_not_there_is_named(void **state)
{
	struct profile_object kernel = { .kind = OBJECT_KERNEL, .path = "[kernel]" };
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;
	struct symbol_table *table;
	struct fault why;

	assert_int_equal(kallsyms_new(&k, "/nowhere/kallsyms", NULL, NULL), 0);
	assert_int_equal(kallsyms_read_object(k, &kernel, &table, &why), -ENOENT);
	assert_non_null(strstr(why.text, "/nowhere/kallsyms"));
}

static void test_the_running_kernel_is_known_by_its_build_id(void **state)
{
	struct profile_object kernel = { .kind = OBJECT_KERNEL, .path = "[kernel]" };
	struct profile_object module = { .kind = OBJECT_MODULE, .path = "[../x]", .n_build_id = 4 };
	struct build_id id;
	struct fault why;
	int r;

	assert_int_equal(try(NULL, &kernel, &why), -ENOENT); /* it does not say which it is of */
	kernel.n_build_id = 20;
	assert_int_equal(try(NULL, &kernel, &why), -ESTALE);
	assert_int_equal(try(NULL, &module, &why), -ENOENT);
	if (!build_id_from_notes_file("/sys/kernel/notes", &id))
		return;
	memcpy(kernel.build_id, id.bytes, id.n);
	kernel.n_build_id = id.n;
	r = try(NULL, &kernel, &why);
	assert_true(!r || r == -EPERM || r == -ENOENT || r == -EACCES);
}

/* 0 where they are hidden, or there are none. */
static uint64_t address_of_running_kernel(void)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	uint64_t address = 0, found = 0;
	char name[256];

	while (f && !found && fscanf(f, "%" SCNx64 " %*c %255s%*[^\n]", &address, name) == 2)
		if (strcmp(name, "_text") == 0)
			found = address;
	if (f)
		fclose(f);
	return found;
}

static void test_or_where_it_has_none_by_its_address(void **state)
{
	struct profile_object kernel = { .kind = OBJECT_KERNEL,
					 .path = "[kernel]",
					 .base = 0x1000 };
	uint64_t address = address_of_running_kernel();
	struct fault why;

	if (!address)
		return;
	assert_int_equal(try(NULL, &kernel, &why), -ESTALE);
	assert_non_null(strstr(why.text, "--kallsyms"));
	kernel.base = address;
	assert_int_equal(try(NULL, &kernel, &why), 0);
	kernel.n_build_id = 20; /* what it has counts */
	assert_int_equal(try(NULL, &kernel, &why), -ESTALE);
}

/* With the right to see addresses; it is opened for each reading. */
static int open_copy(void *userdata)
{
	++*(int *)userdata;
	return open(file_of(some_text), O_RDONLY | O_CLOEXEC);
}

static int open_nothing(void *userdata)
{
	return -EPIPE;
}

static void test_is_opened_by_another(void **state)
{
	struct profile_object kernel = { .kind = OBJECT_KERNEL,
					 .path = "[kernel]",
					 .base = 0xffffffff9a000000 };
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL, *none = NULL;
	struct symbol_table *table = NULL;
	struct fault why = {};
	int n_opened = 0;

	assert_int_equal(kallsyms_new(&k, NULL, open_copy, &n_opened), 0);
	assert_int_equal(n_opened, 0);
	assert_int_equal(kallsyms_read_object(k, &kernel, &table, &why), 0);
	assert_int_equal(n_opened, 1);
	symbol_table_free(table);
	kallsyms_forget(k);
	table = NULL;
	assert_int_equal(kallsyms_read_object(k, &kernel, &table, &why), 0);
	assert_int_equal(n_opened, 2);
	symbol_table_free(table);
	assert_int_equal(kallsyms_new(&none, NULL, open_nothing, NULL), 0);
	assert_int_equal(kallsyms_read_object(none, &kernel, &table, &why), -EPIPE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_offsets_count_from_text),
		cmocka_unit_test(test_or_from_stext_where_the_base_is_that),
		cmocka_unit_test(test_modules_count_from_the_page_of_their_lowest_function),
		cmocka_unit_test(test_hidden_symbols_are_said_to_be),
		cmocka_unit_test(test_an_unknown_module_is_not_found),
		cmocka_unit_test(test_a_file_that_is_not_there_is_named),
		cmocka_unit_test(test_the_running_kernel_is_known_by_its_build_id),
		cmocka_unit_test(test_or_where_it_has_none_by_its_address),
		cmocka_unit_test(test_is_opened_by_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
