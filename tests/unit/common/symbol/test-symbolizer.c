/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is found in the files of objects, and in the kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/symbol/symbolizer.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/elf/file.h"
#include "common/parser/spawn.h"
#include "common/symbol/object-cache.h"
#include "common/symbol/resolver.h"
#include "common/util/clock.h"
#include "tests/support/dying-parser.h"
#include "tests/symbol/symbolized.h"

static void test_functions_of_lines_have_their_symbols_names(void **state)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(NO_SETTINGS);
	struct profile_object object = object_of(program_path());
	struct source_frame frames[8];

	/* DWARF knows no functions of assembler */
	assert_int_equal(
		symbolizer_lines(s, &object, offset_of(program_path(), "assembled"), frames, 8), 1);
	assert_string_equal(frames[0].function, "assembled");
	assert_non_null(strstr(frames[0].file, "assembled.S"));
}

static void find_function(struct symbolizer *s, const char *name, struct symbolizer_function *ret)
{
	struct profile_object object = object_of(program_path());
	uint64_t offset = offset_of(program_path(), name);

	assert_int_equal(symbolizer_function(s, &object, offset, ret), 1);
	assert_int_equal(ret->start, offset);
	assert_int_equal(symbolizer_function(s, &object, ret->end - 1, ret), 1);
	assert_int_equal(ret->start, offset);
	assert_int_equal(symbolizer_function(s, &object, offset - 1, ret) && ret->start == offset,
			 0);
	assert_int_equal(symbolizer_function(s, &object, offset, ret), 1);
}

static void test_functions_by_the_unwind_table(void **state)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(NO_SETTINGS);
	struct profile_object object = object_of(program_path());
	struct profile_object missing = { .kind = OBJECT_FILE, .path = "/nowhere" };
	struct symbolizer_function function;

	find_function(s, "main", &function);
	assert_false(function.is_outermost);
	find_function(s, "_start", &function);
	assert_true(function.is_outermost);
	assert_int_equal(symbolizer_function(s, &object, 0, &function), 0);
	assert_int_equal(symbolizer_function(s, &object, UINT64_MAX, &function), 0);
	assert_int_equal(symbolizer_function(s, &missing, 0x1000, &function), 0);
}

/* Whoever asks for it: walks and the functions of stitching have the same memory. */
static void test_a_table_is_held_once(void **state)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(NO_SETTINGS);
	struct profile_object object = object_of(program_path());
	struct profile_object missing = { .kind = OBJECT_FILE, .path = "/nowhere" };
	struct symbolizer_function function;
	struct unwind_table one, two;
	uint64_t start, end;

	assert_int_equal(symbolizer_unwind_table(s, &object, &one), 1);
	find_function(s, "main", &function);
	assert_int_equal(symbolizer_unwind_table(s, &object, &two), 1);
	assert_true(one.n_rows > 0);
	assert_ptr_equal(one.bytes, two.bytes);
	unwind_table_done(&one);
	assert_int_equal(symbolizer_unwind_table(s, &missing, &one), 0);
	assert_int_equal(one.n_rows, 0);
	s = symbolizer_free(s);
	assert_true(unwind_table_function(&two, function.start, &start, &end));
	assert_int_equal(end, function.end);
	unwind_table_done(&two);
}

static void test_what_is_not_used_is_forgotten(void **state)
{
	const struct parser_settings parser_settings = { .connect = spawn_parser };
	struct symbolizer_settings settings = {};
	struct profile_object object = object_of(program_path());
	struct profile_object other = { .path = "/nowhere" };
	struct cached_object *a, *b;
	struct object_cache *cache;

	assert_int_equal(parser_new(&settings.parser, &parser_settings), 0);
	assert_int_equal(object_cache_new(&cache, &settings), 0);
	assert_int_equal(object_cache_get(cache, &object, &a), 0);
	assert_int_equal(object_cache_get(cache, &other, &b), 0);
	assert_non_null(b->why);
	object_cache_shrink(cache, SIZE_MAX, 2);
	assert_int_equal(object_cache_get(cache, &object, &b), 0);
	assert_ptr_equal(a, b);
	object_cache_shrink(cache, SIZE_MAX, 1); /* forgets the other */
	assert_int_equal(object_cache_get(cache, &object, &b), 0);
	assert_ptr_equal(a, b);
	object_cache_shrink(cache, 100, 10);
	assert_int_equal(object_cache_get(cache, &object, &a), 0);
	assert_null(a->why);
	object_cache_free(cache);
	parser_free(settings.parser);
}

/* So that their space is free soon. */
static void test_removed_files_that_are_not_used_are_closed(void **state)
{
	const struct parser_settings parser_settings = { .connect = spawn_parser };
	struct symbolizer_settings settings = {};
	char path[] = "/tmp/branchd-test-XXXXXX", command[PATH_MAX + 64];
	struct profile_object object = object_of(program_path());
	struct profile_object removed = { .kind = OBJECT_FILE, .path = path };
	struct cached_object *a, *b;
	struct object_cache *cache;

	close(mkstemp(path));
	snprintf(command, sizeof(command), "cp %s %s", program_path(), path);
	assert_int_equal(system(command), 0);
	assert_int_equal(parser_new(&settings.parser, &parser_settings), 0);
	assert_int_equal(object_cache_new(&cache, &settings), 0);
	assert_int_equal(object_cache_get(cache, &object, &a), 0);
	assert_int_equal(object_cache_get(cache, &removed, &b), 0);
	unlink(path);
	object_cache_shrink(cache, SIZE_MAX, 10);
	assert_non_null(b->file); /* it was used just now */
	assert_int_equal(object_cache_get(cache, &removed, &b), 0);
	object_cache_shrink(cache, SIZE_MAX, 10);
	assert_non_null(b->file);
	object_cache_shrink(cache, SIZE_MAX, 10);
	assert_null(b->file);
	assert_non_null(a->file);
	object_cache_free(cache);
	parser_free(settings.parser);
}

static void take_failure(const char *path, const char *why, void *userdata)
{
	snprintf(userdata, PATH_MAX, "%s", path);
}

static int end_of_parser; /* ours, to end the connection */
static bool parsers_die;

static int connect_and_watch(uint32_t owner, void *userdata)
{
	int fd;

	if (parsers_die)
		return connect_to_the_dying(owner, userdata);
	fd = spawn_parser(owner, userdata);
	end_of_parser = dup(fd);
	return fd;
}

static void test_a_failure_while_asking_names_the_file(void **state)
{
	const struct parser_settings parser_settings = { .connect = connect_and_watch };
	struct profile_object object = object_of(program_path());
	struct symbolizer_settings settings = {};
	struct cached_object *cached;
	struct object_cache *cache;
	char expected[PATH_MAX + 64] = "";

	assert_int_equal(parser_new(&settings.parser, &parser_settings), 0);
	assert_int_equal(object_cache_new(&cache, &settings), 0);
	assert_int_equal(object_cache_get(cache, &object, &cached), 0);
	object_cache_for_each_failure(cache, take_failure, expected);
	assert_string_equal(expected, "");
	parsers_die = true;
	assert_int_equal(shutdown(end_of_parser, SHUT_RDWR), 0);
	assert_int_equal(resolver_add(cache, cached, &(uint64_t){ 0x1000 }, 1), 0);
	snprintf(expected, sizeof(expected), "%s: its parser was killed", program_path());
	assert_string_equal(cached->why, expected);
	object_cache_for_each_failure(cache, take_failure, expected);
	assert_string_equal(expected, program_path());
	close(end_of_parser);
	object_cache_free(cache);
	parser_free(settings.parser);
}

/* A file with the build-id of another one must not name that one's functions. */
static void test_untrusted_files_are_kept_apart(void **state)
{
	struct profile_object trusted = { .path = "/nowhere", .n_build_id = 20, .inode = 7 };
	struct profile_object one = trusted, newer, same;
	struct cached_object *a, *b;
	struct object_cache *cache;

	one.untrusted = true;
	one.ctime_ns = 1;
	newer = same = one;
	newer.ctime_ns = 2;
	same.path = "/elsewhere";
	assert_int_equal(object_cache_new(&cache, NO_SETTINGS), 0);
	assert_int_equal(object_cache_get(cache, &one, &a), 0);
	assert_null(object_cache_find(cache, &trusted));
	assert_null(object_cache_find(cache, &newer));
	assert_ptr_equal(object_cache_find(cache, &same), a);
	assert_int_equal(object_cache_get(cache, &trusted, &b), 0);
	assert_ptr_not_equal(a, b);
	trusted.inode = 8;
	assert_ptr_equal(object_cache_find(cache, &trusted), b);
	object_cache_free(cache);
}

static void test_the_vdso(void **state)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(NO_SETTINGS);
	struct profile_object object = { .kind = OBJECT_VDSO, .path = "[vdso]" };
	const uint8_t *image = (const uint8_t *)getauxval(AT_SYSINFO_EHDR); // NOLINT
	struct elf_file *file;
	uint8_t magic[SELFMAG];
	uint16_t machine;
	size_t n;

	assert_string_equal(find(s, &object, 0x1000), "-");
	assert_int_equal(problems_of(s).n, 1);
	if (!image || elf_file_open_memory(&file, image, 4096) < 0)
		return;
	memcpy(object.build_id, file->build_id.bytes, file->build_id.n);
	object.n_build_id = file->build_id.n;
	elf_file_free(file);
	n = 0;
	for (uint64_t offset = 0; offset < 8192; offset++)
		n += !!strstr(find(s, &object, offset), "clock_gettime");
	assert_true(n > 0);
	assert_int_equal(symbolizer_code(s, &object, 0, magic, SELFMAG, &machine), SELFMAG);
	assert_memory_equal(magic, ELFMAG, SELFMAG);
	assert_int_equal(symbolizer_code(s, &object, 1 << 20, magic, 1, &machine), 0);
	object.build_id[0] ^= 1;
	assert_string_equal(find(s, &object, 0x1000), "-");
}

static void test_code(void **state)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(NO_SETTINGS);
	struct profile_object object = object_of(program_path()), other = object;
	uint64_t offset = offset_of(program_path(), "local_function");
	uint8_t code[64], expected[64];
	uint16_t machine = EM_NONE;
	int fd = open(program_path(), O_RDONLY | O_CLOEXEC);
	struct stat st;

	assert_int_equal(pread(fd, expected, sizeof(expected), (off_t)offset), sizeof(expected));
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	assert_int_equal(symbolizer_code(s, &object, offset, code, sizeof(code), &machine),
			 sizeof(code));
	assert_memory_equal(code, expected, sizeof(code));
	assert_int_equal(machine, EM_X86_64);
	assert_int_equal(
		symbolizer_code(s, &object, (uint64_t)st.st_size - 3, code, sizeof(code), &machine),
		3);
	assert_int_equal(symbolizer_code(s, &object, UINT64_MAX - 8, code, 16, &machine), 0);
	other.build_id[0] ^= 1;
	assert_int_equal(symbolizer_code(s, &other, offset, code, sizeof(code), &machine), 0);
}

static void test_hidden_kernel_symbols(void **state)
{
	struct profile_object kernel = { .kind = OBJECT_KERNEL, .path = "[kernel]" };
	_cleanup_(symbolizer_freep) struct symbolizer *s = NULL;
	char path[128];

	snprintf(path, sizeof(path), "%s/kallsyms", scratch);
	tools_run("echo '0000000000000000 T _text' >'%s'", path);
	s = make(&(struct symbolizer_settings){ .kallsyms = path });
	assert_string_equal(find(s, &kernel, 1), "-");
	assert_int_equal(strncmp(problems_of(s).why, "kernel symbols are hidden: ", 27), 0);
}

static struct profile *make_profile(const struct profile_object *objects, size_t n)
{
	struct profile *p;

	assert_int_equal(profile_new(&p), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(profile_add_object(p, &objects[i]), i);
	return p;
}

static void test_a_profile_gets_each_function_once(void **state)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(NO_SETTINGS);
	struct profile_object objects[] = { object_of(program_path()), { .path = "/nowhere" } };
	_cleanup_(profile_freep) struct profile *p = make_profile(objects, 2);
	uint64_t a = offset_of(program_path(), "main");
	uint64_t b = offset_of(program_path(), "local_function");
	uint64_t c = offset_of(program_path(), "with_a_cold_part");

	profile_add_stack(p, &(struct profile_stack){ .parent = PROFILE_NONE,
						      .process = PROFILE_NONE,
						      .frame = { 0, a } });
	profile_add_stack(p, &(struct profile_stack){ .parent = PROFILE_NONE,
						      .process = PROFILE_NONE,
						      .frame = { PROFILE_NONE, a } });
	profile_add_branch(p, &(struct profile_branch){ .process = PROFILE_NONE,
							.from = { 0, a + 1 },
							.to = { 0, b } });
	profile_add_branch(p, &(struct profile_branch){ .process = PROFILE_NONE,
							.from = { 1, a },
							.to = { 0, UINT64_MAX } });
	profile_add_block(
		p, &(struct profile_block){ .process = PROFILE_NONE, .start = b + 1, .end = c });
	assert_int_equal(symbolizer_add_functions(s, p), 0);
	assert_int_equal(p->n_functions, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct profile_function *f = &p->functions[i];

		assert_int_equal(f->object, 0);
		assert_string_equal(f->name, f->start == a ? "main" :
					     f->start == b ? "local_function" :
					     f->start == c ? "with_a_cold_part" :
							     "");
	}
	assert_int_equal(problems_of(s).n, 1);
}

#define N_FILES     40
#define N_FUNCTIONS 1000
#define N_PLACES    300000

/* 1,000 functions of 16 bytes, in 40 files of one content; the objects of the first two. */
static void make_large_files(struct profile_object objects[2], char paths[2][128])
{
	tools_run("cd '%s' && { echo .text; for i in $(seq %d); do echo \".globl f$i; "
		  ".type f$i,%%function; .p2align 4; f$i: .fill 16,1,0x90; .size f$i,16\"; done; } "
		  ">large.s && cc -shared -nostdlib -Wl,--build-id=none large.s -o large.0 && "
		  "for i in $(seq %d); do cp large.0 large.$i; done",
		  scratch, N_FUNCTIONS, N_FILES);
	for (int i = 0; i < 2; i++) {
		snprintf(paths[i], 128, "%s/large.%d", scratch, i);
		objects[i] = (struct profile_object){ .path = paths[i] };
	}
}

/* What two objects with a place at @offset of each are named. */
static void check_named(struct symbolizer *s, struct profile_object *objects, uint64_t offset,
			const char *name)
{
	_cleanup_(profile_freep) struct profile *p = make_profile(objects, 2);

	for (uint32_t i = 0; i < 2; i++)
		profile_add_stack(p, &(struct profile_stack){ .parent = PROFILE_NONE,
							      .process = PROFILE_NONE,
							      .frame = { i, offset } });
	assert_int_equal(symbolizer_add_functions(s, p), 0);
	assert_int_equal(p->n_functions, name ? 2 : 0);
	for (size_t i = 0; i < p->n_functions; i++) {
		assert_int_equal(p->functions[i].object, i);
		assert_string_equal(p->functions[i].name, name);
		assert_true(p->functions[i].fingerprint != 0);
	}
}

/* With no room for symbols between walks, and then without the files. */
static void test_what_was_found_once_stays_known(void **state)
{
	const struct symbolizer_settings little = { .max_bytes = 4096, .max_code_bytes = SIZE_MAX };
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(&little);
	struct profile_object objects[2];
	char paths[2][128];
	uint64_t f7, f8;

	make_large_files(objects, paths);
	f7 = offset_of(paths[0], "f7");
	f8 = offset_of(paths[0], "f8");
	check_named(s, objects, f7, "f7");
	for (int i = 0; i < 2; i++)
		assert_int_equal(unlink(paths[i]), 0);
	check_named(s, objects, f7 + 15, "f7");
	check_named(s, objects, f8, NULL);
}

/* Those with @least samples and ticks or more have a fingerprint. */
static void check_fingerprinted(struct symbolizer *s, struct profile_object *objects,
				uint64_t least)
{
	static const struct {
		const char *name;
		uint64_t samples, ticks;
	} uses[] = { { "f1", 1, 0 }, { "f2", 2, 7 }, { "f3", 5, 0 } };
	_cleanup_(profile_freep) struct profile *p = make_profile(objects, 2);
	size_t n_found = 0;

	for (uint32_t i = 0; i < ARRAY_SIZE(uses); i++)
		profile_add_stack(
			p, &(struct profile_stack){
				   .parent = PROFILE_NONE,
				   .process = PROFILE_NONE,
				   .frame = { i % 2, offset_of(objects[0].path, uses[i].name) },
				   .samples = uses[i].samples,
				   .ticks = uses[i].ticks });
	assert_int_equal(symbolizer_add_functions(s, p), 0);
	assert_int_equal(p->n_functions, 3);
	for (size_t i = 0; i < 9; i++) {
		if (strcmp(p->functions[i / 3].name, uses[i % 3].name) != 0)
			continue;
		n_found++;
		assert_int_equal(p->functions[i / 3].fingerprint != 0,
				 uses[i % 3].samples + uses[i % 3].ticks >= least);
	}
	assert_int_equal(n_found, 3);
}

/* One at a time: each has all of the code that may be read. */
static void test_what_is_used_most_gets_its_fingerprint_first(void **state)
{
	const struct symbolizer_settings little = { .max_code_bytes = 16 };
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(&little);
	struct profile_object objects[2];
	char paths[2][128];

	make_large_files(objects, paths);
	check_fingerprinted(s, objects, 9);
	check_fingerprinted(s, objects, 5);
	check_fingerprinted(s, objects, 1);
}

/* A hundred functions of 16 bytes; one has ten thousand samples, and each of the others one. */
static size_t count_fingerprints(struct symbolizer *s, struct profile_object *objects,
				 bool *ret_has_hot)
{
	_cleanup_(profile_freep) struct profile *p = make_profile(objects, 2);
	size_t n = 0;

	for (int i = 0; i < 100; i++) {
		char name[8];

		snprintf(name, sizeof(name), "f%d", 100 + i);
		profile_add_stack(p, &(struct profile_stack){
					     .parent = PROFILE_NONE,
					     .process = PROFILE_NONE,
					     .frame = { 0, offset_of(objects[0].path, name) },
					     .samples = i == 50 ? 10000 : 1 });
	}
	assert_int_equal(symbolizer_add_functions(s, p), 0);
	assert_int_equal(p->n_functions, 100);
	*ret_has_hot = false;
	for (size_t i = 0; i < p->n_functions; i++) {
		bool is_hot = strcmp(p->functions[i].name, "f150") == 0;

		n += p->functions[i].fingerprint != 0;
		*ret_has_hot |= is_hot && p->functions[i].fingerprint;
	}
	return n;
}

/* 256 bytes: 16 for the hot one, and a quarter of the 256 for others. */
static void test_few_fingerprints_are_taken_of_what_is_seldom_used(void **state)
{
	const struct symbolizer_settings some = { .max_code_bytes = 256 };
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(&some);
	struct profile_object objects[2];
	char paths[2][128];
	bool has_hot;

	make_large_files(objects, paths);
	for (size_t i = 1; i <= 3; i++) {
		assert_int_equal(count_fingerprints(s, objects, &has_hot), 1 + i * 64 / 16);
		assert_true(has_hot);
	}
}

static void test_a_large_profile_is_named_quickly(void **state)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(NO_SETTINGS);
	_cleanup_(profile_freep) struct profile *p = make_profile(NULL, 0);
	uint64_t start;
	struct profile_object objects[2];
	char paths[2][128];
	uint64_t first;

	make_large_files(objects, paths);
	first = offset_of(paths[0], "f1");
	for (uint32_t i = 0; i < N_FILES; i++) {
		snprintf(paths[0], sizeof(paths[0]), "%s/large.%u", scratch, i);
		profile_add_object(p, &objects[0]);
	}
	srand(1);
	for (size_t i = 0; i < N_PLACES; i++)
		profile_add_stack(
			p, &(struct profile_stack){
				   .parent = PROFILE_NONE,
				   .process = PROFILE_NONE,
				   .frame = { (uint32_t)rand() % N_FILES,
					      first + (uint64_t)rand() % (N_FUNCTIONS * 16) },
			   });
	start = clock_us(CLOCK_MONOTONIC);
	assert_int_equal(symbolizer_add_functions(s, p), 0);
	fprintf(stderr, "%d places in %d objects of %d functions: %.1f ms\n", N_PLACES, N_FILES,
		N_FUNCTIONS, (double)(clock_us(CLOCK_MONOTONIC) - start) / 1e3);
	assert_true(p->n_functions > N_FILES * N_FUNCTIONS * 99 / 100);
	start = clock_us(CLOCK_MONOTONIC);
	assert_int_equal(symbolizer_add_functions(s, p), 0);
	fprintf(stderr, "once they are open: %.1f ms\n",
		(double)(clock_us(CLOCK_MONOTONIC) - start) / 1e3);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_of_lines_have_their_symbols_names),
		cmocka_unit_test(test_functions_by_the_unwind_table),
		cmocka_unit_test(test_a_table_is_held_once),
		cmocka_unit_test(test_what_is_not_used_is_forgotten),
		cmocka_unit_test(test_removed_files_that_are_not_used_are_closed),
		cmocka_unit_test(test_a_failure_while_asking_names_the_file),
		cmocka_unit_test(test_untrusted_files_are_kept_apart),
		cmocka_unit_test(test_the_vdso),
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_hidden_kernel_symbols),
		cmocka_unit_test(test_a_profile_gets_each_function_once),
		cmocka_unit_test(test_what_was_found_once_stays_known),
		cmocka_unit_test(test_what_is_used_most_gets_its_fingerprint_first),
		cmocka_unit_test(test_few_fingerprints_are_taken_of_what_is_seldom_used),
		cmocka_unit_test(test_a_large_profile_is_named_quickly),
	};
	int r = symbolized_begin(argc, argv);

	if (r)
		return r;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	symbolized_end();
	return r;
}
