/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/top/kernel-code.h"

#define TEXT   0xffffffff81000000ull
#define MODULE 0xffffffffc0000000ull
#define SIZE   0x40

struct fixture {
	char kcore[32], kallsyms[32];
	struct kernel_code_files files;
};

static void write_file(char *path, const void *bytes, size_t n)
{
	FILE *f = fdopen(mkstemp(path), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* The kernel's text and a module, in bytes that count up. */
static void write_core(char *path)
{
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr segments[3];
		uint8_t text[SIZE], module[SIZE];
	} core = {
		.head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64 },
			  .e_machine = EM_X86_64,
			  .e_phoff = sizeof(Elf64_Ehdr),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 3 },
		.segments = { { .p_type = PT_NOTE, .p_filesz = SIZE },
			      { .p_type = PT_LOAD, .p_vaddr = TEXT, .p_filesz = SIZE },
			      { .p_type = PT_LOAD, .p_vaddr = MODULE, .p_filesz = SIZE } },
	};

	for (uint8_t i = 0; i < SIZE; i++) {
		core.text[i] = i;
		core.module[i] = (uint8_t)(0x80 + i);
	}
	core.segments[1].p_offset = offsetof(typeof(core), text);
	core.segments[2].p_offset = offsetof(typeof(core), module);
	write_file(path, &core, sizeof(core));
}

static int set_up(void **state)
{
	static const char kallsyms[] = "ffffffff81000000 T _text\n"
				       "ffffffff81000010 t work\n"
				       "ffffffff81000010 t alias\n"
				       "ffffffffc0000008 t go\t[simpmu]\n";
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	strcpy(f->kcore, "/tmp/kcore-XXXXXX");
	strcpy(f->kallsyms, "/tmp/kallsyms-XXXXXX");
	write_core(f->kcore);
	write_file(f->kallsyms, kallsyms, strlen(kallsyms));
	f->files = (struct kernel_code_files){ f->kcore, f->kallsyms };
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	unlink(f->kcore);
	unlink(f->kallsyms);
	free(f);
	return 0;
}

static void test_memory_of_kernel_and_module(void **state)
{
	struct fixture *f = *state;
	uint8_t code[SIZE];
	uint16_t machine = 0;

	assert_int_equal(kernel_code_read(&f->files, "work", TEXT + 16, code, 8, &machine), 8);
	assert_int_equal(machine, EM_X86_64);
	assert_int_equal(code[0], 16);
	assert_int_equal(code[7], 23);
	assert_int_equal(kernel_code_read(&f->files, "alias", TEXT + 16, code, 1, &machine), 1);
	assert_int_equal(kernel_code_read(&f->files, "go", MODULE + 8, code, SIZE, &machine),
			 SIZE - 8); /* no further than its segment */
	assert_int_equal(code[0], 0x88);
}

/* Another function begins there, or none: the kernel was started again since. */
static void test_only_where_the_function_begins(void **state)
{
	struct fixture *f = *state;
	uint8_t code[SIZE];
	uint16_t machine;

	assert_int_equal(kernel_code_read(&f->files, "other", TEXT + 16, code, 8, &machine), 0);
	assert_int_equal(kernel_code_read(&f->files, "wor", TEXT + 16, code, 8, &machine), 0);
	assert_int_equal(kernel_code_read(&f->files, "work", TEXT + 17, code, 8, &machine), 0);
	assert_int_equal(kernel_code_read(&f->files, "work", 0, code, 8, &machine), 0);
}

static void test_what_is_no_core(void **state)
{
	struct fixture *f = *state;
	const struct kernel_code_files swapped = { f->kallsyms, f->kallsyms };
	const struct kernel_code_files missing = { "/nowhere", f->kallsyms };
	uint8_t code[SIZE];
	uint16_t machine;

	assert_int_equal(kernel_code_read(&swapped, "work", TEXT + 16, code, 8, &machine), 0);
	assert_int_equal(kernel_code_read(&missing, "work", TEXT + 16, code, 8, &machine), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_of_kernel_and_module),
		cmocka_unit_test(test_only_where_the_function_begins),
		cmocka_unit_test(test_what_is_no_core),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
