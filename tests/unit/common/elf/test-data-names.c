/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every variable of programs of many kinds of linking, and every slot, against readelf. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/elf/data-names.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/elf/demangle.h"
#include "common/util/cleanup.h"
#include "tests/symbol/tools.h"

#define MAX_SYMBOLS 4096

static const char *dir;
static char **cases;
static int n_cases;

static struct elf_image *open_image(const char *path)
{
	struct elf_image *image;

	assert_int_equal(elf_image_open(&image, open(path, O_RDONLY | O_CLOEXEC)), 0);
	return image;
}

static void free_names(struct elf_data_name *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i].name);
}

/* "    12: 0000000000004010     4 OBJECT  GLOBAL DEFAULT   25 acc": variables with a size. */
static size_t read_variables(const char *path, bool dynamic, struct tools_symbol *ret)
{
	FILE *f = tools_output("readelf -W %s '%s'", dynamic ? "--dyn-syms" : "-s", path);
	char line[2048], index[16];
	size_t n = 0;

	while (n < MAX_SYMBOLS && fgets(line, sizeof(line), f)) {
		struct tools_symbol *s = &ret[n];

		n += sscanf(line, " %*d: %lx %li OBJECT %*s %*s %15s %1023s", &s->address,
			    (long *)&s->size, index, s->name) == 4 &&
		     strcmp(index, "UND") != 0 && strcmp(index, "ABS") != 0 && s->size;
	}
	fclose(f);
	return n;
}

/* Whether @linked, the linker's name, is @name for people. */
static bool is_name(const char *linked, const char *name)
{
	_cleanup_free_ char *expected = NULL;

	assert_int_equal(demangle(&expected, linked, strlen(linked), ""), 0);
	return strcmp(expected, name) == 0;
}

/* Whether one of the variables has that name and starts at @start. */
static bool is_one(const struct tools_symbol *variables, size_t n, const char *name, uint64_t start)
{
	for (size_t i = 0; i < n; i++)
		if (variables[i].address == start && is_name(variables[i].name, name))
			return true;
	return false;
}

static size_t check_variables(const char *path, bool dynamic)
{
	static struct tools_symbol variables[MAX_SYMBOLS];
	static struct elf_data_name names[2 * MAX_SYMBOLS];
	size_t n = read_variables(path, dynamic, variables);
	_cleanup_(elf_image_freep) struct elf_image *image = open_image(path);

	/* the last ones first: they may come in any order */
	for (size_t i = 0; i < n; i++) {
		const struct tools_symbol *s = &variables[n - 1 - i];

		names[2 * i] = (struct elf_data_name){ .address = s->address };
		names[2 * i + 1] = (struct elf_data_name){ .address = s->address + s->size - 1 };
	}
	assert_int_equal(elf_data_names_find(image, NULL, names, 2 * n), 0);
	for (size_t i = 0; i < 2 * n; i++) {
		const struct elf_data_name *name = &names[i];

		if (!name->name || name->is_slot ||
		    !is_one(variables, n, name->name, name->address - name->offset))
			fail_msg("%s: %#lx is %s+%#lx", path, name->address,
				 name->name ?: "nothing", name->offset);
	}
	free_names(names, 2 * n);
	return n;
}

static void test_all_variables_as_readelf_has_them(void **state)
{
	size_t n = 0;

	for (int i = 0; i < n_cases; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", dir, cases[i]);
		n += check_variables(path, false);
	}
	assert_true(n > 20);
}

static void test_stripped_files_have_their_dynamic_symbols(void **state)
{
	char path[] = "/tmp/branchd-test-XXXXXX";
	size_t n = 0;

	close(mkstemp(path));
	for (int i = 0; i < n_cases; i++) {
		tools_run("strip -o '%s' '%s/%s'", path, dir, cases[i]);
		n += check_variables(path, true);
	}
	assert_true(n > 0);
	unlink(path);
}

static void test_a_debug_file_has_the_names_of_a_stripped_one(void **state)
{
	char stripped[] = "/tmp/branchd-test-XXXXXX", debug[] = "/tmp/branchd-test-XXXXXX";
	static struct tools_symbol variables[MAX_SYMBOLS];
	char path[4096];
	size_t n;

	snprintf(path, sizeof(path), "%s/pie", dir);
	close(mkstemp(stripped));
	close(mkstemp(debug));
	tools_run("strip -o '%s' '%s'", stripped, path);
	tools_run("objcopy --only-keep-debug '%s' '%s'", path, debug);
	n = read_variables(path, false, variables);
	for (size_t i = 0; i < n; i++) {
		_cleanup_(elf_image_freep) struct elf_image *image = open_image(stripped);
		_cleanup_(elf_image_freep) struct elf_image *symbols = open_image(debug);
		struct elf_data_name name = { .address = variables[i].address };

		assert_int_equal(elf_data_names_find(image, symbols, &name, 1), 0);
		assert_non_null(name.name);
		assert_true(is_one(variables, n, name.name, variables[i].address));
		free(name.name);
	}
	assert_true(n > 0);
	unlink(stripped);
	unlink(debug);
}

/* "000000003fd8  000200000006 R_X86_64_GLOB_DAT 0000000000000000 puts@GLIBC_2.2.5 + 0" */
static bool parse_slot(const char *line, uint64_t *ret_address, char ret_name[static 1024])
{
	char type[64];

	if (sscanf(line, "%lx %*x %63s %*x %1023s", ret_address, type, ret_name) != 3)
		return false;
	return strstr(type, "GLOB_DAT") || strstr(type, "JUMP_SLO");
}

static size_t check_slots(const char *path)
{
	_cleanup_(elf_image_freep) struct elf_image *image = open_image(path);
	FILE *f = tools_output("readelf -rW '%s'", path);
	char line[2048], expected[1024];
	struct elf_data_name name = {};
	size_t n = 0;

	while (fgets(line, sizeof(line), f)) {
		if (!parse_slot(line, &name.address, expected))
			continue;
		assert_int_equal(elf_data_names_find(image, NULL, &name, 1), 0);
		if (!name.name || !name.is_slot || !is_name(expected, name.name))
			fail_msg("%s: the slot %#lx is %s, not %s", path, name.address,
				 name.name ?: "nothing", expected);
		assert_int_equal(name.offset, 0);
		free(name.name);
		name = (struct elf_data_name){};
		n++;
	}
	fclose(f);
	return n;
}

static void test_slots_have_the_names_of_their_relocations(void **state)
{
	size_t n = 0;

	for (int i = 0; i < n_cases; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", dir, cases[i]);
		n += check_slots(path);
	}
	assert_true(n > 20);
}

static void test_what_has_no_symbol_has_its_section(void **state)
{
	struct elf_data_name names[] = { {}, { .address = UINT64_MAX } };
	_cleanup_(elf_image_freep) struct elf_image *image = NULL;
	char path[4096];
	size_t section;

	snprintf(path, sizeof(path), "%s/library.so", dir);
	image = open_image(path);
	section = elf_image_find_name(image, ".gnu.hash");
	assert_int_not_equal(section, 0);
	names[0].address = image->sections[section].address + 4;
	assert_int_equal(elf_data_names_find(image, NULL, names, 2), 0);
	assert_string_equal(names[0].name, ".gnu.hash");
	assert_int_equal(names[0].offset, 4);
	assert_false(names[0].is_slot);
	assert_null(names[1].name);
	free_names(names, 2);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_variables_as_readelf_has_them),
		cmocka_unit_test(test_stripped_files_have_their_dynamic_symbols),
		cmocka_unit_test(test_a_debug_file_has_the_names_of_a_stripped_one),
		cmocka_unit_test(test_slots_have_the_names_of_their_relocations),
		cmocka_unit_test(test_what_has_no_symbol_has_its_section),
	};

	if (argc < 3 || !tools_have("readelf") || !tools_have("objcopy")) {
		fprintf(stderr, "needs the directory of test programs, and binutils\n");
		return 77;
	}
	dir = argv[1];
	cases = argv + 2;
	n_cases = argc - 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
