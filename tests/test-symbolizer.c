/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which file is taken for an object, where its symbols come from, and what is said otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/symbol/symbolizer.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/symbol/build-id.h"
#include "common/symbol/elf-file.h"
#include "common/symbol/object-cache.h"
#include "tests/symbol/tools.h"

static const char *dir; /* of the test programs */
static char scratch[64];

struct problems {
	int n;
	char path[4096], why[1024];
};

static void on_problem(const char *path, const char *why, void *userdata)
{
	struct problems *p = userdata;

	p->n++;
	snprintf(p->path, sizeof(p->path), "%s", path);
	snprintf(p->why, sizeof(p->why), "%s", why);
}

static struct problems problems_of(const struct symbolizer *symbolizer)
{
	struct problems p = { 0 };

	symbolizer_for_each_problem(symbolizer, on_problem, &p);
	return p;
}

static struct symbolizer *make(const struct symbolizer_settings *settings)
{
	struct symbolizer *s;

	assert_int_equal(symbolizer_new(&s, settings), 0);
	return s;
}

/* Where nm says that function is, as a file offset. */
static uint64_t offset_of(const char *file, const char *function)
{
	struct tools_load loads[32];
	struct tools_symbol *symbols;
	size_t n_loads = tools_loads(file, loads, ARRAY_SIZE(loads));
	size_t n = tools_symbols(file, false, &symbols);
	uint64_t offset = UINT64_MAX;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(symbols[i].name, function))
			offset = tools_offset(loads, n_loads, symbols[i].address);
	free(symbols);
	assert_true(offset != UINT64_MAX);
	return offset;
}

static const char *program_path(void)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/pie", dir);
	return path;
}

static struct profile_object object_of(const char *path)
{
	struct profile_object object = { .kind = OBJECT_FILE, .path = path };

	object.n_build_id = (uint8_t)tools_build_id(path, object.build_id);
	return object;
}

/* The name found, or "-"; and the problem, if there is one. */
static const char *find(struct symbolizer *s, const struct profile_object *object, uint64_t offset)
{
	struct symbol symbol;
	int r = symbolizer_find(s, object, offset, &symbol);

	assert_true(r >= 0);
	return r ? symbol.name : "-";
}

#define NO_SETTINGS (&(struct symbolizer_settings){ .symfs = NULL })

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
	assert_int_equal(strncmp(p.why, "build-id of ", 12), 0);
	assert_non_null(strstr(p.why, ", the recording's is "));
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
	assert_non_null(strstr(problems_of(s).why, "is another file now"));
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
	assert_string_equal(problems_of(s).why, "it was deleted");
}

static void test_what_is_no_program(void **state)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(NO_SETTINGS);
	struct profile_object object = { .path = "/proc/self/status" };
	char path[128];

	assert_string_equal(find(s, &object, 1), "-");
	assert_non_null(strstr(problems_of(s).why, "is no ELF program or library"));
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
	assert_int_equal(n, 4);
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
	assert_int_equal(symbolizer_name_profile(s, p), 0); /* the next profile is another try */
	assert_int_equal(problems_of(s).n, 1);
	assert_string_equal(find(s, &object, offset), "main");
	assert_int_equal(problems_of(s).n, 0);
	unlink(path);
}

static void test_what_is_not_used_is_forgotten(void **state)
{
	struct profile_object object = object_of(program_path());
	struct profile_object other = { .path = "/nowhere" };
	struct cached_object *a, *b;
	struct object_cache *cache;

	assert_int_equal(object_cache_new(&cache, NO_SETTINGS), 0);
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
	assert_int_equal(symbolizer_name_profile(s, p), 0);
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

/* 1,000 functions of 16 bytes, in 40 files of one content. */
static void make_large_files(void)
{
	tools_run("cd '%s' && { echo .text; for i in $(seq %d); do echo \".globl f$i; "
		  ".type f$i,%%function; .p2align 4; f$i: .fill 16,1,0x90; .size f$i,16\"; done; } "
		  ">large.s && cc -shared -nostdlib -Wl,--build-id=none large.s -o large.0 && "
		  "for i in $(seq %d); do cp large.0 large.$i; done",
		  scratch, N_FUNCTIONS, N_FILES);
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
	assert_int_equal(symbolizer_name_profile(s, p), 0);
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
	const struct symbolizer_settings little = { .max_bytes = 4096 };
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(&little);
	struct profile_object objects[] = { { .path = "large.0" }, { .path = "large.1" } };
	char paths[2][128];
	uint64_t f7, f8;

	make_large_files();
	for (int i = 0; i < 2; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s/large.%d", scratch, i);
		objects[i].path = paths[i];
	}
	f7 = offset_of(paths[0], "f7");
	f8 = offset_of(paths[0], "f8");
	check_named(s, objects, f7, "f7");
	for (int i = 0; i < 2; i++)
		assert_int_equal(unlink(paths[i]), 0);
	check_named(s, objects, f7 + 15, "f7");
	check_named(s, objects, f8, NULL);
}

static double milliseconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) * 1e3 +
	       (double)(now.tv_nsec - start->tv_nsec) / 1e6;
}

static void test_a_large_profile_is_named_quickly(void **state)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = make(NO_SETTINGS);
	_cleanup_(profile_freep) struct profile *p = make_profile(NULL, 0);
	struct timespec start;
	uint64_t first;
	char path[128];

	make_large_files();
	snprintf(path, sizeof(path), "%s/large.0", scratch);
	first = offset_of(path, "f1");
	for (uint32_t i = 0; i < N_FILES; i++) {
		snprintf(path, sizeof(path), "%s/large.%u", scratch, i);
		profile_add_object(p, &(struct profile_object){ .path = path });
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
	clock_gettime(CLOCK_MONOTONIC, &start);
	assert_int_equal(symbolizer_name_profile(s, p), 0);
	fprintf(stderr, "%d places in %d objects of %d functions: %.1f ms\n", N_PLACES, N_FILES,
		N_FUNCTIONS, milliseconds_since(&start));
	assert_true(p->n_functions > N_FILES * N_FUNCTIONS * 99 / 100);
	clock_gettime(CLOCK_MONOTONIC, &start);
	assert_int_equal(symbolizer_name_profile(s, p), 0);
	fprintf(stderr, "once they are open: %.1f ms\n", milliseconds_since(&start));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_of_the_right_build_id),
		cmocka_unit_test(test_functions_of_lines_have_their_symbols_names),
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
		cmocka_unit_test(test_what_is_not_used_is_forgotten),
		cmocka_unit_test(test_the_vdso),
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_hidden_kernel_symbols),
		cmocka_unit_test(test_a_profile_gets_each_function_once),
		cmocka_unit_test(test_what_was_found_once_stays_known),
		cmocka_unit_test(test_a_large_profile_is_named_quickly),
	};
	int r;

	dir = argc > 1 ? argv[1] : "";
	if (access(program_path(), R_OK) < 0 || !tools_have("objcopy") || !tools_have("cc")) {
		fprintf(stderr, "needs the directory of test programs, a compiler and binutils\n");
		return 77;
	}
	snprintf(scratch, sizeof(scratch), "/tmp/branchd-test-XXXXXX");
	if (!mkdtemp(scratch))
		return 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	tools_run("rm -rf '%s'", scratch);
	return r;
}
