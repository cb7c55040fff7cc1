/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Every function of programs of many kinds of linking, against nm; PLT stubs against objdump. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/elf/file.h"
#include "common/elf/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/elf/plt.h"
#include "tests/symbol/tools.h"

static const char *dir;
static char **cases;
static int n_cases;

struct subject {
	char path[4096];
	struct tools_load loads[32];
	size_t n_loads;
	struct tools_symbol *symbols;
	size_t n_symbols;
	struct elf_file *file;
};

static void open_subject(struct subject *s, const char *path, bool dynamic)
{
	snprintf(s->path, sizeof(s->path), "%s", path);
	s->n_loads = tools_loads(s->path, s->loads, ARRAY_SIZE(s->loads));
	s->n_symbols = tools_symbols(s->path, dynamic, &s->symbols);
	assert_true(s->n_loads > 0);
	assert_true(s->n_symbols > 0);
	assert_int_equal(elf_file_open(&s->file, open(s->path, O_RDONLY | O_CLOEXEC)), 0);
	assert_int_equal(elf_symbols_read(s->file, NULL, NULL), 0);
}

static void close_subject(struct subject *s)
{
	elf_file_free(s->file);
	free(s->symbols);
}

/* Without a name where there is none. */
static struct symbol_entry find(const struct subject *s, uint64_t offset)
{
	size_t i = symbol_table_find(s->file->symbols, offset);

	return i == SYMBOL_TABLE_NONE ? (struct symbol_entry){ .start = UINT64_MAX } :
					symbol_table_get(s->file->symbols, i);
}

/* The symbol of nm at that address and of that name. */
static const struct tools_symbol *find_truth(const struct subject *s, uint64_t address,
					     const char *name)
{
	size_t n = strcspn(name, "@");

	for (size_t i = 0; i < s->n_symbols; i++)
		if (s->symbols[i].address == address && strlen(s->symbols[i].name) == n &&
		    !strncmp(s->symbols[i].name, name, n))
			return &s->symbols[i];
	return NULL;
}

static int rank(char type)
{
	return type == 't' ? 0 : strchr("Ww", type) ? 1 : 2;
}

static bool another_within(const struct subject *s, const struct tools_symbol *outer)
{
	for (size_t i = 0; i < s->n_symbols; i++)
		if (s->symbols[i].address > outer->address &&
		    s->symbols[i].address < outer->address + outer->size)
			return true;
	return false;
}

static void check_symbol(const struct subject *s, const struct tools_symbol *t)
{
	uint64_t offset = tools_offset(s->loads, s->n_loads, t->address);
	const struct symbol_entry e = find(s, offset);
	const struct tools_symbol *chosen;

	if (!t->size) /* a label, or of a size unknown to nm as well */
		return;
	if (e.start != offset)
		fail_msg("%s: %s at %#lx: got %s", s->path, t->name, t->address,
			 e.name ?: "nothing");
	chosen = find_truth(s, t->address, e.name);
	if (!chosen)
		fail_msg("%s: %s at %#lx is called %s", s->path, t->name, t->address, e.name);
	assert_true(rank(chosen->type) >= rank(t->type) || t->type == 'i');
	assert_int_equal(e.size, chosen->size);
	if (!another_within(s, chosen))
		assert_int_equal(find(s, offset + chosen->size - 1).start, e.start);
	assert_int_not_equal(find(s, offset + chosen->size).start, e.start);
}

static void check_subject(const struct subject *s)
{
	size_t n = symbol_table_count(s->file->symbols);

	for (size_t i = 0; i < s->n_symbols; i++)
		check_symbol(s, &s->symbols[i]);
	/* and nothing that is not there */
	for (size_t i = 0; i < n; i++) {
		const struct symbol_entry e = symbol_table_get(s->file->symbols, i);
		uint64_t address;

		assert_true(loads_address(&s->file->loads, e.start, &address));
		assert_int_equal(tools_offset(s->loads, s->n_loads, address), e.start);
		if (!e.stub && strcmp(e.name, ".plt") && !find_truth(s, address, e.name))
			fail_msg("%s: nm does not know %s at %#lx", s->path, e.name, address);
	}
}

static void test_all_functions_as_nm_has_them(void **state)
{
	for (int i = 0; i < n_cases; i++) {
		struct subject s = { .file = NULL };
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", dir, cases[i]);
		open_subject(&s, path, false);
		check_subject(&s);
		close_subject(&s);
	}
}

static void test_stripped_files_have_their_dynamic_symbols(void **state)
{
	struct subject s = { .file = NULL };
	char path[] = "/tmp/branchd-test-XXXXXX";

	close(mkstemp(path));
	tools_run("strip -o '%s' '%s/library.so'", path, dir);
	open_subject(&s, path, true);
	check_subject(&s);
	close_subject(&s);
	unlink(path);
}

/* "0000000000001030 <puts@plt>:", of which nm knows nothing. */
static bool parse_stub(const char *line, uint64_t *ret_address, char ret_name[static 1024])
{
	char *at;

	if (sscanf(line, "%lx <%1023[^>]>:", ret_address, ret_name) != 2)
		return false;
	at = strstr(ret_name, "@plt");
	if (!at || at[4])
		return false;
	ret_name[strcspn(ret_name, "@")] = 0;
	return true;
}

static size_t check_stubs(const char *objdump, const char *name)
{
	struct subject s = { .file = NULL };
	char line[2048], path[4096], expected[1024];
	uint64_t address;
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	open_subject(&s, path, false);
	f = tools_output("%s -d '%s'", objdump, path);
	while (fgets(line, sizeof(line), f)) {
		struct symbol_entry e;

		if (!parse_stub(line, &address, expected))
			continue;
		n++;
		e = find(&s, tools_offset(s.loads, s.n_loads, address));
		if (!e.stub)
			fail_msg("%s: no stub at %#lx, %s", path, address, expected);
		/* objdump knows no names of indirect functions */
		if (!strncmp(expected, "*ABS*", 5))
			continue;
		assert_int_equal(strcspn(e.name, "@"), strlen(expected));
		assert_int_equal(strncmp(e.name, expected, strlen(expected)), 0);
		assert_int_equal(e.start, tools_offset(s.loads, s.n_loads, address));
	}
	fclose(f);
	close_subject(&s);
	return n;
}

static void test_stubs_as_objdump_has_them(void **state)
{
	size_t n = 0;

	for (int i = 0; i < n_cases; i++)
		n += check_stubs("objdump", cases[i]);
	assert_true(n > 20);
}

static void test_stubs_of_aarch64(void **state)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/a64", dir);
	if (access(path, R_OK) < 0 || !tools_have("llvm-objdump"))
		return;
	assert_int_equal(check_stubs("llvm-objdump", "a64"), 2);
	assert_int_equal(check_stubs("llvm-objdump", "a64-bti"), 2);
}

static void test_segments_whose_addresses_are_not_their_offsets(void **state)
{
	static const char *const names[] = { "fixed", "one-segment", "moved", "lld" };
	int n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct subject s = { .file = NULL };
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		if (access(path, R_OK) < 0)
			continue;
		open_subject(&s, path, false);
		for (size_t k = 0; k < s.n_loads; k++) {
			const struct tools_load *l = &s.loads[k];
			uint64_t address, offset;

			n += l->address != l->offset;
			assert_true(
				loads_offset(&s.file->loads, l->address + l->size / 2, &offset));
			assert_int_equal(offset, l->offset + l->size / 2);
			assert_true(loads_address(&s.file->loads, offset, &address));
			assert_int_equal(address, l->address + l->size / 2);
			assert_false(
				loads_offset(&s.file->loads, l->address - 0x20000000, &offset));
		}
		close_subject(&s);
	}
	assert_true(n > 4);
}

static void test_build_ids_as_readelf_has_them(void **state)
{
	for (int i = 0; i < n_cases; i++) {
		struct subject s = { .file = NULL };
		char path[4096];
		uint8_t id[20];
		size_t n;

		snprintf(path, sizeof(path), "%s/%s", dir, cases[i]);
		n = tools_build_id(path, id);
		open_subject(&s, path, false);
		assert_int_equal(s.file->build_id.n, n);
		assert_memory_equal(s.file->build_id.bytes, id, n);
		close_subject(&s);
	}
}

static int file_of(const void *bytes, size_t n)
{
	int fd = memfd_create("elf", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, n), n);
	return fd;
}

static void test_what_is_no_elf_file_is_refused(void **state)
{
	static const char text[] =
		"#!/bin/sh\necho this is long enough to hold a header of 64 bytes";
	struct elf_file *file;
	uint8_t header[64] = "\177ELF\2\1\1";

	assert_int_equal(elf_file_open(&file, file_of("", 0)), -ENOEXEC);
	assert_int_equal(elf_file_open(&file, file_of("\177ELF", 4)), -ENOEXEC);
	assert_int_equal(elf_file_open(&file, file_of(text, sizeof(text))), -ENOEXEC);
	assert_int_equal(elf_file_open(&file, file_of(header, sizeof(header))), -ENOEXEC);
}

/* A file cut anywhere gives what is left, or is refused; it is never believed beyond its end. */
static void test_truncated_files(void **state)
{
	_cleanup_(elf_file_freep) struct elf_file *whole = NULL;
	uint8_t *bytes = malloc(1 << 20);
	char path[4096];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/library.so", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = read(fd, bytes, 1 << 20);
	assert_true(n > 0);
	close(fd);
	for (ssize_t cut = 0; cut < n; cut += 61) {
		struct elf_file *file = NULL;
		int r = elf_file_open(&file, file_of(bytes, (size_t)cut));

		if (!r)
			assert_int_equal(elf_symbols_read(file, NULL, NULL), 0);
		elf_file_free(file);
		/* exactly as much memory as there are bytes, for sanitizers to watch */
		file = NULL;
		r = elf_file_open_memory(&file, bytes, (size_t)cut);
		if (!r)
			assert_int_equal(elf_symbols_read(file, NULL, NULL), 0);
		elf_file_free(file);
	}
	free(bytes);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_functions_as_nm_has_them),
		cmocka_unit_test(test_stripped_files_have_their_dynamic_symbols),
		cmocka_unit_test(test_stubs_as_objdump_has_them),
		cmocka_unit_test(test_stubs_of_aarch64),
		cmocka_unit_test(test_segments_whose_addresses_are_not_their_offsets),
		cmocka_unit_test(test_build_ids_as_readelf_has_them),
		cmocka_unit_test(test_what_is_no_elf_file_is_refused),
		cmocka_unit_test(test_truncated_files),
	};

	if (argc < 3 || !tools_have("nm") || !tools_have("objdump") || !tools_have("readelf")) {
		fprintf(stderr, "needs the directory of test programs, and binutils\n");
		return 77;
	}
	dir = argv[1];
	cases = argv + 2;
	n_cases = argc - 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
