/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "common/symbol/symbolizer.h"
#include "common/util/cleanup.h"
#include "daemon/naming/kept-symbols.h"

struct scene {
	char place[64], directory[80], kallsyms[80];
	struct kept_files *kept;
};

static void open_kept(struct scene *s)
{
	const struct kept_files_settings settings = { .directory = s->directory };

	s->kept = kept_files_free(s->kept);
	assert_int_equal(kept_symbols_open(&s->kept, &settings), 0);
}

static void scene_init(struct scene *s)
{
	*s = (struct scene){ .place = "/tmp/test-kept-symbols-XXXXXX" };
	assert_non_null(mkdtemp(s->place));
	snprintf(s->directory, sizeof(s->directory), "%s/kept", s->place);
	snprintf(s->kallsyms, sizeof(s->kallsyms), "%s/kallsyms", s->place);
	open_kept(s);
}

static void scene_done(struct scene *s)
{
	char command[160];

	kept_files_free(s->kept);
	snprintf(command, sizeof(command), "rm -rf '%s'", s->place);
	assert_int_equal(system(command), 0);
}

/* The kernel says that its function, or that of its module m, has this name. */
static void write_kallsyms(const struct scene *s, const char *name)
{
	FILE *f = fopen(s->kallsyms, "we");

	assert_non_null(f);
	fprintf(f,
		"ffffffff81000000 T _text\nffffffff81000100 T %s\nffffffff81000200 T _etext\n"
		"ffffffffc0000100 t %s\t[m]\n",
		name, name);
	assert_int_equal(fclose(f), 0);
}

/* Whether the function has that name. */
static bool is_named_with(const struct scene *s, struct symbol_keeper keeper,
			  const struct profile_object *object, const char *name)
{
	const struct symbolizer_settings settings = { .kallsyms = s->kallsyms, .keeper = keeper };
	_cleanup_(symbolizer_freep) struct symbolizer *symbolizer = NULL;
	struct symbol symbol;

	assert_int_equal(symbolizer_new(&symbolizer, &settings), 0);
	assert_int_equal(symbolizer_find(symbolizer, object, 0x110, &symbol), 1);
	return strcmp(symbol.name, name) == 0;
}

/* As a new branchd finds it. */
static bool is_named(const struct scene *s, const struct profile_object *object, const char *name)
{
	return is_named_with(s, kept_symbols_keeper(s->kept), object, name);
}

static const struct profile_object kernel = {
	.kind = OBJECT_KERNEL, .path = "[kernel.kallsyms]", .build_id = { 1, 2 }, .n_build_id = 20
};

static void test_the_kernels_symbols_are_read_once(void **state)
{
	struct scene s;

	scene_init(&s);
	write_kallsyms(&s, "before");
	assert_true(is_named(&s, &kernel, "before"));
	write_kallsyms(&s, "after");
	open_kept(&s);
	assert_true(is_named(&s, &kernel, "before"));
	scene_done(&s);
}

static void test_another_kernel_has_its_own(void **state)
{
	struct profile_object other = kernel;
	struct scene s;

	scene_init(&s);
	write_kallsyms(&s, "before");
	assert_true(is_named(&s, &kernel, "before"));
	write_kallsyms(&s, "after");
	other.build_id[0]++;
	assert_true(is_named(&s, &other, "after"));
	other.n_build_id = 0;
	write_kallsyms(&s, "unknown");
	assert_true(is_named(&s, &other, "unknown"));
	write_kallsyms(&s, "later");
	assert_true(is_named(&s, &other, "later"));
	assert_true(is_named(&s, &kernel, "before"));
	scene_done(&s);
}

static int refuse_load(const struct profile_object *object, struct symbol_table **ret,
		       void *userdata)
{
	fail_msg("%s may be kept", object->path);
	return 0;
}

static void refuse_save(const struct profile_object *object, const struct symbol_table *table,
			void *userdata)
{
	fail_msg("%s is kept", object->path);
}

/* Nor are those of an earlier branchd found, which kept modules that were being loaded. */
static void test_a_module_is_not_kept(void **state)
{
	const struct symbol_keeper refuse = { refuse_load, refuse_save, NULL };
	struct profile_object module = kernel;
	struct scene s;

	scene_init(&s);
	module.kind = OBJECT_MODULE;
	module.path = "[m]";
	write_kallsyms(&s, "before");
	assert_true(is_named(&s, &module, "before"));
	write_kallsyms(&s, "after");
	assert_true(is_named(&s, &module, "after"));
	assert_true(is_named_with(&s, refuse, &module, "after"));
	scene_done(&s);
}

static void test_damaged_ones_are_read_again(void **state)
{
	struct kept_files_counts counts;
	char command[160];
	struct scene s;

	scene_init(&s);
	write_kallsyms(&s, "before");
	assert_true(is_named(&s, &kernel, "before"));
	write_kallsyms(&s, "after");
	snprintf(command, sizeof(command), "truncate --size=-1 '%s'/*.symbols", s.directory);
	assert_int_equal(system(command), 0);
	assert_true(is_named(&s, &kernel, "after"));
	kept_files_get_counts(s.kept, &counts);
	assert_int_equal(counts.damaged, 1);
	assert_int_equal(counts.files, 1);
	write_kallsyms(&s, "later");
	assert_true(is_named(&s, &kernel, "after"));
	scene_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_kernels_symbols_are_read_once),
		cmocka_unit_test(test_another_kernel_has_its_own),
		cmocka_unit_test(test_a_module_is_not_kept),
		cmocka_unit_test(test_damaged_ones_are_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
