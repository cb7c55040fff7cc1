/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which file is taken for an object, where its symbols come from, and what is said otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/symbol/symbolizer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/object/build-id.h"
#include "tests/symbol/symbolized.h"

static void test_a_file_of_the_right_build_id(void **state)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(NO_SETTINGS);
	struct profile_object object = object_of(program_path());
	uint64_t offset = offset_of(program_path(), "local_function"), address;
	struct source_frame frames[8];
	struct symbol symbol;
	int n;

	assert_int_equal(object.n_build_id, 20);
	assert_int_equal(symbolizer_find(s, &object, offset + 1, &symbol), 1);
	assert_string_equal(symbol.name, "local_function");
	assert_int_equal(symbol.start, offset);
	assert_true(symbol.size > 1);
	assert_int_equal(symbolizer_address(s, &object, offset, &address), 1);
	n = symbolizer_lines(s, &object, offset, frames, 8);
	assert_int_equal(n, 1);
	assert_string_equal(frames[0].function, "local_function");
	assert_non_null(strstr(frames[0].file, "program.c"));
	assert_int_equal(frames[0].file[0], '/');
	assert_int_equal(access(frames[0].file, R_OK), 0);
	assert_int_equal(problems_of(s).n, 0);
	assert_int_equal(symbolizer_find(s, &object, 0, &symbol), 0);
	assert_int_equal(symbolizer_find(s, &object, UINT64_MAX, &symbol), 0);
	assert_int_equal(symbolizer_address(s, &object, UINT64_MAX, &address), 0);
}

static void test_a_file_of_another_build_id_is_not_used(void **state)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(NO_SETTINGS);
	struct profile_object object = object_of(program_path());
	struct problems p;

	object.build_id[0] ^= 1;
	for (int i = 0; i < 3; i++)
		assert_string_equal(find(s, &object, offset_of(program_path(), "main")), "-");
	p = problems_of(s);
	assert_int_equal(p.n, 1);
	assert_string_equal(p.path, program_path());
	assert_non_null(strstr(p.why, " has build-id "));
	assert_non_null(strstr(p.why, ", the profile has "));
}

static void test_a_missing_file_is_said_to_be(void **state)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(NO_SETTINGS);
	struct profile_object object = { .path = "/nowhere/at/all" };
	struct source_frame frame;
	uint64_t address;

	assert_string_equal(find(s, &object, 1), "-");
	assert_string_equal(problems_of(s).why, "not found: /nowhere/at/all");
	assert_int_equal(symbolizer_address(s, &object, 1, &address), 0);
	assert_int_equal(symbolizer_lines(s, &object, 1, &frame, 1), 0);
	object.path = "//anon";
	assert_string_equal(find(s, &object, 1), "-");
	object.path = "[heap]";
	assert_string_equal(find(s, &object, 1), "-");
	assert_int_equal(problems_of(s).n, 3);
}

static void test_without_build_id_the_inode_decides(void **state)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(NO_SETTINGS);
	struct profile_object object = { .path = program_path() };
	uint64_t offset = offset_of(program_path(), "main");
	struct stat st;

	assert_int_equal(stat(program_path(), &st), 0);
	assert_string_equal(find(s, &object, offset), "main");
	object.inode = st.st_ino;
	object.major = 1234; /* as overlayfs would have it */
	assert_string_equal(find(s, &object, offset), "main");
	object.inode++;
	assert_string_equal(find(s, &object, offset), "-");
	assert_non_null(strstr(problems_of(s).why, " was replaced"));
}

static void test_symfs(void **state)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s =
		make(&(struct symbolizer_settings){ .symfs = dir });
	struct profile_object object = { .path = "/pie", .inode = 1 };

	assert_string_equal(find(s, &object, offset_of(program_path(), "main")), "main");
	object.path = "/not-there";
	assert_string_equal(find(s, &object, 1), "-");
	assert_non_null(strstr(problems_of(s).why, dir));
}

static void test_a_deleted_file(void **state)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(NO_SETTINGS);
	struct profile_object object = object_of(program_path());
	char path[4200];

	snprintf(path, sizeof(path), "%s (deleted)", program_path());
	object.path = path;
	/* it has been replaced by its equal */
	assert_string_equal(find(s, &object, offset_of(program_path(), "main")), "main");
	object.n_build_id = 0;
	assert_string_equal(find(s, &object, offset_of(program_path(), "main")), "-");
	assert_string_equal(problems_of(s).why, "deleted");
}

static void test_what_is_no_program(void **state)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(NO_SETTINGS);
	struct profile_object object = { .path = "/proc/self/status" };
	char path[128];

	assert_string_equal(find(s, &object, 1), "-");
	assert_non_null(strstr(problems_of(s).why, "is not an ELF program or library"));
	object.path = scratch; /* a directory */
	assert_string_equal(find(s, &object, 1), "-");
	snprintf(path, sizeof(path), "%s/pipe", scratch);
	assert_int_equal(mkfifo(path, 0600), 0);
	object.path = path; /* opening it would wait for a writer */
	assert_string_equal(find(s, &object, 1), "-");
	object = (struct profile_object){ .kind = OBJECT_MEMORY, .path = "//anon" };
	assert_string_equal(find(s, &object, 1), "-");
	assert_int_equal(problems_of(s).n, 4);
}

/* The build-id as debuggers lay files out: xx/yyyy */
static const char *build_id_path(const char *file)
{
	static char path[64];
	struct profile_object o = object_of(file);
	char hex[BUILD_ID_HEX_SIZE];

	build_id_format(hex, o.build_id, o.n_build_id);
	snprintf(path, sizeof(path), "%.2s/%s", hex, hex + 2);
	return path;
}

static void check_separate(const struct symbolizer_settings *settings, const char *file)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(settings);
	struct profile_object object = object_of(file);
	uint64_t offset = offset_of(program_path(), "local_function");
	struct source_frame frames[8];

	assert_string_equal(find(s, &object, offset), "local_function");
	assert_int_equal(symbolizer_lines(s, &object, offset, frames, 8), 1);
	assert_non_null(strstr(frames[0].file, "program.c"));
}

static void check_stripped(const struct symbolizer_settings *settings, const char *file)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(settings);
	struct profile_object object = object_of(file);
	uint64_t offset = offset_of(program_path(), "local_function");
	struct source_frame frames[8];

	assert_string_equal(find(s, &object, offset), "-");
	assert_int_equal(symbolizer_lines(s, &object, offset, frames, 8), 0);
}

static void test_a_debug_file_by_build_id(void **state)
{
	const char *id = build_id_path(program_path());
	char file[128], debug_dir[128];

	snprintf(file, sizeof(file), "%s/by-id", scratch);
	snprintf(debug_dir, sizeof(debug_dir), "%s/debug", scratch);
	tools_run("mkdir -p '%s/.build-id/%.2s' && "
		  "objcopy --only-keep-debug '%s' '%s/.build-id/%s.debug' && strip -o '%s' '%s'",
		  debug_dir, id, program_path(), debug_dir, id, file, program_path());
	check_stripped(NO_SETTINGS, file);
	check_separate(&(struct symbolizer_settings){ .debug_dir = debug_dir }, file);
}

static void test_a_debug_file_by_its_link(void **state)
{
	char file[128], debug[256];

	snprintf(file, sizeof(file), "%s/linked", scratch);
	snprintf(debug, sizeof(debug), "%s/.debug/linked.debug", scratch);
	/* without build-ids, so that the checksum decides */
	tools_run("mkdir -p '%s/.debug' && cd '%s' && "
		  "objcopy --remove-section .note.gnu.build-id '%s' linked && "
		  "objcopy --only-keep-debug linked '%s' && strip linked && "
		  "objcopy --add-gnu-debuglink='%s' linked",
		  scratch, scratch, program_path(), debug, debug);
	check_separate(NO_SETTINGS, file);
	tools_run("mv '%s' '%s/linked.debug'", debug, scratch);
	check_separate(NO_SETTINGS, file);
	tools_run("mkdir -p '%s/d/%s' && mv '%s/linked.debug' '%s/d/%s'", scratch, scratch, scratch,
		  scratch, scratch);
	check_stripped(NO_SETTINGS, file);
	snprintf(debug, sizeof(debug), "%s/d", scratch);
	check_separate(&(struct symbolizer_settings){ .debug_dir = debug }, file);
	tools_run("echo >>'%s/d/%s/linked.debug'", scratch, scratch);
	check_stripped(&(struct symbolizer_settings){ .debug_dir = debug }, file);
}

static void test_symbols_packed_into_the_file(void **state)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(NO_SETTINGS);
	struct profile_object object;
	char file[128];

	if (!tools_have("xz"))
		return;
	snprintf(file, sizeof(file), "%s/packed", scratch);
	tools_run("cd '%s' && nm '%s' --format=posix --defined-only | "
		  "awk '$2 == \"T\" || $2 == \"t\" { print $1 }' >keep && "
		  "objcopy --only-keep-debug '%s' mini0 && "
		  "objcopy -S --remove-section .comment --keep-symbols=keep mini0 mini && "
		  "xz -f mini && strip -o packed '%s' && "
		  "objcopy --add-section .gnu_debugdata=mini.xz packed",
		  scratch, program_path(), program_path(), program_path());
	object = object_of(file);
	assert_string_equal(find(s, &object, offset_of(program_path(), "local_function")),
			    "local_function");
	assert_string_equal(find(s, &object, offset_of(program_path(), "main")), "main");
}

static void test_a_copy_kept_by_build_id(void **state)
{
	struct symbolizer_settings settings = { .debug_dir = scratch };
	struct profile_object object = object_of(program_path());
	const char *id = build_id_path(program_path());
	uint64_t offset = offset_of(program_path(), "main");
	struct symbolizer *s;

	object.path = "/nowhere/program";
	s = make(&settings);
	assert_string_equal(find(s, &object, offset), "-");
	assert_string_equal(problems_of(s).why, "not found: /nowhere/program");
	symbolizer_free(s);
	tools_run("mkdir -p '%s/.build-id/%s' && cp '%s' '%s/.build-id/%s/elf'", scratch, id,
		  program_path(), scratch, id);
	s = make(&settings);
	assert_string_equal(find(s, &object, offset), "main");
	symbolizer_free(s);
}

/* As perf buildid-cache leaves them there: what was recorded, and its debug file. */
static void test_the_cache_of_perf(void **state)
{
	const char *id = build_id_path(program_path());
	struct symbolizer_settings settings = { .home = scratch };
	struct profile_object object;
	uint64_t offset = offset_of(program_path(), "local_function");
	_cleanup_(symbolizer_freep) struct symbolizer *s = NULL;
	char file[128];

	snprintf(file, sizeof(file), "%s/cached", scratch);
	tools_run("mkdir -p '%s/.debug/.build-id/%s' && strip -o '%s' '%s' && "
		  "objcopy --only-keep-debug '%s' '%s/.debug/.build-id/%s/debug'",
		  scratch, id, file, program_path(), program_path(), scratch, id);
	check_separate(&settings, file);
	tools_run("cp '%s' '%s/.debug/.build-id/%s/elf'", file, scratch, id);
	object = object_of(file);
	object.path = "/nowhere/program";
	s = make(&settings);
	assert_string_equal(find(s, &object, offset), "local_function");
	tools_run("rm -r '%s/.debug'", scratch);
}

/* First another file. */
static int on_open(const struct profile_object *object, unsigned int *cursor, void *userdata)
{
	const char *files[] = { "/proc/self/exe", program_path() };
	int *n = userdata;

	if (strcmp(object->path, "/elsewhere") || *cursor == ARRAY_SIZE(files))
		return -ENOENT;
	++*n;
	return open(files[(*cursor)++], O_RDONLY | O_CLOEXEC);
}

static void test_a_file_that_the_owner_opens(void **state)
{
	int n = 0;
	_cleanup_(symbolizer_freep) struct symbolizer *s =
		make(&(struct symbolizer_settings){ .open = on_open, .userdata = &n });
	struct profile_object object = object_of(program_path());
	uint64_t offset = offset_of(program_path(), "main");
	struct source_frame frame;

	object.path = "/elsewhere";
	assert_string_equal(find(s, &object, offset), "main");
	assert_int_equal(n, 2);
	assert_int_equal(symbolizer_lines(s, &object, offset, &frame, 1), 1);
	assert_int_equal(n, 2); /* it stays open */
	object.n_build_id = 0;
	object.inode = 1;
	assert_string_equal(find(s, &object, offset), "-");
	object.inode = 0;
	object.path = program_path();
	assert_string_equal(find(s, &object, offset), "main");
}

/* As of a program that was deleted, while a copy of it goes on to run. */
static void test_a_file_that_comes_later(void **state)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(NO_SETTINGS);
	uint64_t offset = offset_of(program_path(), "main");
	struct profile_object object = object_of(program_path());
	_cleanup_(profile_freep) struct profile *p = NULL;
	char path[128];

	assert_int_equal(profile_new(&p), 0);
	snprintf(path, sizeof(path), "%s/comes-later", scratch);
	object.path = path;
	assert_string_equal(find(s, &object, offset), "-");
	tools_run("cp '%s' '%s'", program_path(), path);
	assert_string_equal(find(s, &object, offset), "-");
	assert_int_equal(problems_of(s).n, 1);
	assert_int_equal(symbolizer_add_functions(s, p), 0); /* the next profile is another try */
	assert_int_equal(problems_of(s).n, 1);
	assert_string_equal(find(s, &object, offset), "main");
	assert_int_equal(problems_of(s).n, 0);
	unlink(path);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_of_the_right_build_id),
		cmocka_unit_test(test_a_file_of_another_build_id_is_not_used),
		cmocka_unit_test(test_a_missing_file_is_said_to_be),
		cmocka_unit_test(test_without_build_id_the_inode_decides),
		cmocka_unit_test(test_symfs),
		cmocka_unit_test(test_a_deleted_file),
		cmocka_unit_test(test_what_is_no_program),
		cmocka_unit_test(test_a_debug_file_by_build_id),
		cmocka_unit_test(test_a_debug_file_by_its_link),
		cmocka_unit_test(test_symbols_packed_into_the_file),
		cmocka_unit_test(test_a_copy_kept_by_build_id),
		cmocka_unit_test(test_the_cache_of_perf),
		cmocka_unit_test(test_a_file_that_the_owner_opens),
		cmocka_unit_test(test_a_file_that_comes_later),
	};
	int r = symbolized_begin(argc, argv);

	if (r)
		return r;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	symbolized_end();
	return r;
}
