/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The client of the parser, with real parser processes that read this very program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/parser/parser.h"
#include "common/parser/spawn.h"
#include "common/util/macro.h"

#define OWN  "/proc/self/exe"
#define MANY 1000000

static struct parser *make(uint64_t cpu_us)
{
	const struct parser_settings settings = { .connect = spawn_parser, .cpu_us = cpu_us };
	struct parser *parser;

	assert_int_equal(parser_new(&parser, &settings), 0);
	return parser;
}

static struct parser_file *open_path(struct parser *parser, const char *path)
{
	struct parser_file *file;
	struct fault why;

	assert_int_equal(parser_open(parser, open(path, O_RDONLY | O_CLOEXEC), 0, &file, &why), 0);
	return file;
}

/* The offset of a function of this program in its file. */
static uint64_t offset_of(const struct parser_file *file, void *function)
{
	const struct loads *loads = &parser_file_identity(file)->loads;
	extern const char __executable_start; /* NOLINT: the linker defines it */
	uint64_t offset;

	assert_true(loads_offset(loads,
				 (uint64_t)((const char *)function - &__executable_start) +
					 loads->rows[0].address,
				 &offset));
	return offset;
}

static void test_a_file_says_what_it_is(void **state)
{
	struct parser *parser = make(0);
	struct parser_file *file = open_path(parser, OWN);
	const struct parser_identity *identity = parser_file_identity(file);

	assert_int_equal(identity->machine, sizeof(void *) == 8 ? EM_X86_64 : EM_386);
	assert_true(identity->has_symtab);
	assert_true(loads_have_code(&identity->loads));
	assert_null(identity->debuglink);
	parser_file_free(file);
	parser_free(parser);
}

static void test_what_is_no_program_is_refused(void **state)
{
	struct parser *parser = make(0);
	struct parser_file *file;
	struct fault why;

	assert_int_equal(parser_open(parser, open("/etc/passwd", O_RDONLY), 0, &file, &why),
			 -ENOEXEC);
	assert_string_equal(why.text, "is not an ELF program or library");
	assert_int_equal(parser_get_counters(parser)->n_started, 1);
	file = open_path(parser, OWN); /* the same process goes on */
	assert_int_equal(parser_get_counters(parser)->n_started, 1);
	parser_file_free(file);
	parser_free(parser);
}

static void test_offsets_become_functions(void **state)
{
	struct parser *parser = make(0);
	struct parser_file *file = open_path(parser, OWN);
	uint64_t offsets[] = { offset_of(file, (void *)make) + 1, 0,
			       offset_of(file, (void *)open_path) };
	struct parser_table table;
	size_t n_code, found = 0;
	struct fault why;

	assert_int_equal(parser_file_resolve(file, offsets, 3, SIZE_MAX, &table, &n_code, &why), 0);
	for (size_t i = 0; i < table.n; i++) {
		const struct parser_range *r = &table.rows[i];

		if (r->first > offsets[0] || r->last < offsets[0])
			continue;
		found++;
		assert_string_equal(r->name, "make");
		assert_int_equal(r->start, offsets[0] - 1);
		assert_true(r->fingerprinted);
		assert_int_not_equal(r->fingerprint, 0);
	}
	assert_int_equal(found, 1);
	assert_true(n_code > 0);
	assert_true(parser_file_bytes(file) > 0);
	parser_table_done(&table);
	parser_file_free(file);
	parser_free(parser);
}

static void test_offsets_become_lines(void **state)
{
	struct parser *parser = make(0);
	struct parser_file *file = open_path(parser, OWN);
	uint64_t offsets[] = { 0, offset_of(file, (void *)make) };
	struct parser_lines lines;
	struct fault why;

	assert_int_equal(parser_file_lines(file, offsets, 2, 8, &lines, &why), 0);
	assert_int_equal(lines.starts[1], 0);
	assert_int_equal(lines.starts[2], 1);
	assert_string_equal(lines.frames[0].function, "make");
	assert_non_null(strstr(lines.frames[0].file, "test-parser.c"));
	parser_lines_done(&lines);
	parser_file_free(file);
	parser_free(parser);
}

static int numbers[4] = { 1, 2, 3, 4 };

static void test_addresses_of_data_get_names(void **state)
{
	extern const char __executable_start; /* NOLINT: the linker defines it */
	struct parser *parser = make(0);
	struct parser_file *file = open_path(parser, OWN);
	uint64_t base = parser_file_identity(file)->loads.rows[0].address;
	uint64_t addresses[] = {
		(uint64_t)((const char *)&numbers[2] - &__executable_start) + base,
		UINT64_MAX,
		(uint64_t)((const char *)make - &__executable_start) + base,
	};
	struct parser_data data;
	struct fault why;

	assert_int_equal(parser_file_data(file, addresses, 3, &data, &why), 0);
	assert_int_equal(data.n, 3);
	assert_string_equal(data.rows[0].name, "numbers");
	assert_int_equal(data.rows[0].offset, 2 * sizeof(*numbers));
	assert_false(data.rows[0].is_slot);
	assert_null(data.rows[1].name);
	assert_string_equal(data.rows[2].name, "make");
	parser_data_done(&data);
	assert_int_equal(parser_file_data(file, addresses, (128U << 10) + 1, &data, &why),
			 -EMSGSIZE);
	parser_file_free(file);
	parser_free(parser);
}

static void test_code_is_read_and_decoded(void **state)
{
	static const uint8_t other[] = { 0x74, 0x02, 0xc3 };
	struct parser *parser = make(0);
	struct parser_file *file = open_path(parser, OWN);
	struct parser_instructions all;
	struct fault why;
	uint8_t code[16];

	assert_int_equal(parser_file_code(file, offset_of(file, (void *)make), code, 16, &why), 16);
	assert_memory_equal(code, (void *)make, 16);
	assert_int_equal(parser_file_code(file, 1UL << 40, code, 16, &why), 0);
	assert_int_equal(
		parser_disassemble(
			parser,
			&(struct parser_decoding){
				.machine = EM_X86_64,
				.pieces = (struct parser_piece[]){ { code, 16, 0x1000, 1 },
								   { other, 3, 0x2000, SIZE_MAX } },
				.n = 2,
			},
			&all, &why),
		0);
	assert_int_equal(all.starts[1], 1);
	assert_int_equal(all.starts[2], 3);
	assert_string_equal(all.rows[1].text, "je 0x2004");
	assert_int_equal(all.rows[1].target, 0x2004);
	assert_int_equal(all.rows[1].kind, BRANCH_COND);
	assert_int_equal(all.rows[2].address, 0x2002);
	parser_instructions_done(&all);
	parser_file_free(file);
	parser_free(parser);
}

static void test_a_file_has_an_unwind_table(void **state)
{
	struct parser *parser = make(0);
	struct parser_file *file = open_path(parser, OWN);
	uint64_t offset = offset_of(file, (void *)make), start, end;
	const struct unwind_rule *rule;
	struct unwind_table table;
	struct fault why;

	assert_int_equal(parser_file_unwind(file, &table, &why), 0);
	assert_int_equal(table.machine, parser_file_identity(file)->machine);
	assert_true(table.n_rows > 100);
	rule = unwind_table_find(&table, offset);
	assert_non_null(rule);
	/* at its first instruction, a function has its caller's stack pointer */
	assert_int_equal(rule->cfa, UNWIND_CFA_REGISTER);
	assert_int_equal(rule->cfa_offset, table.machine == EM_X86_64 ? 8 : 0);
	assert_true(unwind_table_function(&table, offset + 1, &start, &end));
	assert_int_equal(start, offset);
	assert_true(end > offset + 1);
	unwind_table_done(&table);
	parser_file_free(file);
	parser_free(parser);
}

/* The bytes are not looked at. */
static void test_too_much_code_is_refused(void **state)
{
	static const uint8_t code[1];
	const struct parser_piece pieces[] = { { code, 0, 0, 1 }, { code, (32U << 20) + 1, 0, 1 } };
	const struct parser_decoding decoding = {
		.machine = EM_X86_64,
		.pieces = pieces,
		.n = 2,
	};
	struct parser *parser = make(0);
	struct parser_instructions all;
	struct fault why;

	assert_int_equal(parser_disassemble(parser, &decoding, &all, &why), -EMSGSIZE);
	parser_free(parser);
}

static void test_names_are_demangled(void **state)
{
	const char *names[] = { "_ZN1a1bEv", "main", "" };
	struct parser *parser = make(0);
	struct fault why;
	char **result;

	assert_int_equal(parser_demangle(parser, names, 3, &result, &why), 0);
	assert_string_equal(result[0], "a::b()");
	assert_string_equal(result[1], "main");
	assert_string_equal(result[2], "");
	free(result);
	parser_free(parser);
}

static void test_a_file_that_takes_too_much_cpu_fails(void **state)
{
	struct parser *parser = make(20000);
	struct parser_file *file = open_path(parser, OWN);
	struct parser_lines lines;
	struct fault why = { .text = "" };
	int r = 0;

	for (int i = 0; i < 100000 && !r; i++) {
		r = parser_file_lines(file, &(uint64_t){ 0 }, 1, 1, &lines, &why);
		if (!r)
			parser_lines_done(&lines);
	}
	assert_int_equal(r, -EREMOTEIO);
	assert_string_equal(why.text, "took too much CPU");
	assert_string_equal(parser_file_failure(file), "took too much CPU");
	assert_int_equal(parser_get_counters(parser)->n_ended[PARSER_END_CPU], 1);
	/* it is not tried again, and another file is not affected */
	assert_int_equal(parser_file_lines(file, &(uint64_t){ 0 }, 1, 1, &lines, &why), -EREMOTEIO);
	assert_int_equal(parser_get_counters(parser)->n_started, 1);
	parser_file_free(open_path(parser, OWN));
	parser_file_free(file);
	parser_free(parser);
}

/* Nobody gets more CPU by asking slowly. */
static void test_budgets_stay_when_idle_parsers_rest(void **state)
{
	const struct parser_settings settings = {
		.connect = spawn_parser, .cpu_us = 20000, .rest_us = 1, .idle_us = 3600000000
	};
	struct parser_lines lines;
	struct fault why = { .text = "" };
	int n[2] = { 0, 0 }; /* how often without and with rests */

	for (int rests = 0; rests < 2; rests++) {
		struct parser *parser;
		struct parser_file *file;

		assert_int_equal(parser_new(&parser, &settings), 0);
		file = open_path(parser, OWN);
		while (n[rests] < MANY &&
		       !parser_file_lines(file, &(uint64_t){ 0 }, 1, 1, &lines, &why)) {
			parser_lines_done(&lines);
			n[rests]++;
			if (!rests)
				continue;
			usleep(1);
			parser_tend(parser);
			assert_true(parser_tend(parser) > 3000000); /* all rest, and are to end */
		}
		assert_string_equal(why.text, "took too much CPU");
		parser_file_free(file);
		parser_free(parser);
	}
	assert_in_range(n[1], 1, 4 * n[0]); /* each question after a rest takes more */
}

/* Whoever asks little at a time may ask for ever. */
static void test_budgets_are_renewed_when_parsers_rest(void **state)
{
	struct parser *parser = make(20000);
	struct parser_file *file = open_path(parser, OWN);
	struct parser_lines lines;
	struct fault why = { .text = "" };
	int n_before = 0;

	/* how often it may ask without a rest: test_a_file_that_takes_too_much_cpu_fails() */
	while (!parser_file_lines(file, &(uint64_t){ 0 }, 1, 1, &lines, &why)) {
		parser_lines_done(&lines);
		n_before++;
	}
	parser_file_free(file);
	file = open_path(parser, OWN);
	for (int i = 0; i < 3 * n_before; i++) {
		if (i % 4 == 0)
			parser_rest(parser);
		assert_int_equal(parser_file_lines(file, &(uint64_t){ 0 }, 1, 1, &lines, &why), 0);
		parser_lines_done(&lines);
	}
	assert_int_equal(parser_get_counters(parser)->n_started, 2);
	parser_file_free(file);
	parser_free(parser);
}

/* A parser that lives long gets many: root's files are those of all users. */
static void test_more_files_than_one_parser_keeps(void **state)
{
	static struct parser_file *files[1200];
	struct parser *parser = make(0);
	struct parser_lines lines;
	struct fault why;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		files[i] = open_path(parser, OWN);
	for (size_t i = 0; i < ARRAY_SIZE(files); i += 100) {
		assert_int_equal(parser_file_lines(files[i], &(uint64_t){ 0 }, 1, 1, &lines, &why),
				 0);
		parser_lines_done(&lines);
	}
	assert_true(parser_get_counters(parser)->n_started <= 16);
	for (int end = 0; end < PARSER_END_N; end++)
		assert_int_equal(parser_get_counters(parser)->n_ended[end], 0);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		parser_file_free(files[i]);
	parser_free(parser);
}

static int end_of_parser = -1; /* the test's copy of a connection */

static int connect_and_watch(uint32_t owner, void *userdata)
{
	int fd = spawn_parser(owner, userdata);

	if (end_of_parser >= 0)
		close(end_of_parser);
	end_of_parser = dup(fd);
	return fd;
}

static void test_a_parser_that_was_killed_is_replaced(void **state)
{
	const struct parser_settings settings = { .connect = connect_and_watch };
	struct parser_table table;
	struct parser_file *file;
	struct parser *parser;
	struct fault why;

	assert_int_equal(parser_new(&parser, &settings), 0);
	file = open_path(parser, OWN);
	assert_int_equal(shutdown(end_of_parser, SHUT_RDWR), 0);
	assert_int_equal(parser_file_resolve(file, &(uint64_t){ 0 }, 1, 0, &table, NULL, &why), 0);
	assert_int_equal(parser_get_counters(parser)->n_ended[PARSER_END_DIED], 1);
	assert_int_equal(parser_get_counters(parser)->n_started, 2);
	assert_null(parser_file_failure(file));
	parser_table_done(&table);
	parser_file_free(file);
	close(end_of_parser);
	parser_free(parser);
}

static void test_a_process_may_start_early(void **state)
{
	struct parser *parser = make(0);
	struct parser_file *file;

	parser_prepare(parser, 0);
	parser_prepare(parser, 0);
	assert_int_equal(parser_get_counters(parser)->n_started, 1);
	file = open_path(parser, OWN);
	parser_prepare(parser, 0);
	assert_int_equal(parser_get_counters(parser)->n_started, 1);
	parser_file_free(file);
	parser_free(parser);
}

static void test_files_of_several_owners_have_several_processes(void **state)
{
	struct parser *parser = make(0);
	struct parser_file *files[6];
	struct parser_table table;
	struct fault why;

	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(parser_open(parser, open(OWN, O_RDONLY), i, &files[i], &why), 0);
	assert_int_equal(parser_get_counters(parser)->n_started, 6);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(
			parser_file_resolve(files[i], &(uint64_t){ 0 }, 1, 0, &table, NULL, &why),
			0);
		parser_table_done(&table);
		parser_file_free(files[i]);
	}
	assert_true(parser_tend(parser) > 0); /* they were used just now */
	parser_close_all(parser);
	assert_int_equal(parser_tend(parser), -1);
	parser_free(parser);
}

static int connect_to_nothing(uint32_t owner, void *userdata)
{
	return -ENOENT;
}

static void test_without_a_parser_nothing_is_read(void **state)
{
	const struct parser_settings settings = { .connect = connect_to_nothing };
	struct parser *parser;
	struct parser_file *file;
	struct fault why;

	assert_int_equal(parser_new(&parser, &settings), 0);
	assert_int_equal(parser_open(parser, open(OWN, O_RDONLY), 0, &file, &why), -ECONNREFUSED);
	assert_string_equal(why.text, "cannot start branchd-parser: No such file or directory");
	parser_free(parser);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_says_what_it_is),
		cmocka_unit_test(test_what_is_no_program_is_refused),
		cmocka_unit_test(test_offsets_become_functions),
		cmocka_unit_test(test_offsets_become_lines),
		cmocka_unit_test(test_addresses_of_data_get_names),
		cmocka_unit_test(test_code_is_read_and_decoded),
		cmocka_unit_test(test_a_file_has_an_unwind_table),
		cmocka_unit_test(test_too_much_code_is_refused),
		cmocka_unit_test(test_names_are_demangled),
		cmocka_unit_test(test_budgets_are_renewed_when_parsers_rest),
		cmocka_unit_test(test_budgets_stay_when_idle_parsers_rest),
		cmocka_unit_test(test_more_files_than_one_parser_keeps),
		cmocka_unit_test(test_a_file_that_takes_too_much_cpu_fails),
		cmocka_unit_test(test_a_parser_that_was_killed_is_replaced),
		cmocka_unit_test(test_a_process_may_start_early),
		cmocka_unit_test(test_files_of_several_owners_have_several_processes),
		cmocka_unit_test(test_without_a_parser_nothing_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
