/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A parser under foreign control answers what it likes, and one whose memory was written over
 * answers what comes of it: test-answers ATTACKED-PARSER. The client goes on, and so do the files
 * of other owners. $SEEDS: how many of each (Default: 200).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>

#include "tests/attacked/trial.h"

#define SEEDS      200
#define TIMEOUT_US 20000000
#define SHORT_US   300000
#define MAX_FRAMES 8
#define N_CODE     16

static char *program;
static uint64_t n_seeds;

static size_t count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(directory);
	while (readdir(directory))
		n++;
	closedir(directory);
	return n;
}

static void check_text(const char *text)
{
	for (; text && *text; text++)
		assert_true((unsigned char)*text >= ' ' && *text != 0x7f);
}

static int ask_name(struct parser_file *file, struct fault *why)
{
	struct parser_table table;
	int r;

	r = parser_file_resolve(file, &(uint64_t){ MAGIC_OFFSET }, 1, SIZE_MAX, &table, NULL, why);
	if (r < 0)
		return r;
	for (size_t i = 0; i < table.n; i++) {
		check_text(table.rows[i].name);
		assert_true(table.rows[i].first <= table.rows[i].last);
	}
	parser_table_done(&table);
	return 0;
}

static int ask_lines(struct parser_file *file, struct fault *why)
{
	struct parser_lines lines;
	int r;

	r = parser_file_lines(file, (uint64_t[]){ 0, MAGIC_OFFSET }, 2, MAX_FRAMES, &lines, why);
	if (r < 0)
		return r;
	assert_in_range(lines.starts[2], 0, 2 * MAX_FRAMES);
	for (size_t i = 0; i < lines.starts[2]; i++) {
		check_text(lines.frames[i].function);
		check_text(lines.frames[i].file);
	}
	parser_lines_done(&lines);
	return 0;
}

static int ask_code(struct parser_file *file, struct fault *why)
{
	uint8_t code[N_CODE];
	int r = parser_file_code(file, MAGIC_OFFSET, code, N_CODE, why);

	assert_true(r <= N_CODE);
	return MIN(r, 0);
}

static int ask_instructions(struct parser *parser, struct fault *why)
{
	const uint8_t code[N_CODE] = { 0x90, 0xc3, 0x74, 0x02 };
	const struct parser_piece pieces[] = { { code, N_CODE, 0x1000, SIZE_MAX },
					       { code, 1, 0x2000, 1 } };
	const struct parser_decoding decoding = {
		.owner = OWNER_OF_ATTACKER,
		.machine = EM_X86_64,
		.pieces = pieces,
		.n = 2,
	};
	struct parser_instructions all;
	int r = parser_disassemble(parser, &decoding, &all, why);

	if (r < 0)
		return r;
	assert_in_range(all.starts[2], 0, N_CODE + 1);
	for (size_t i = 0; i < all.starts[2]; i++)
		check_text(all.rows[i].text);
	parser_instructions_done(&all);
	return 0;
}

static int ask_to_open(struct parser *parser, struct fault *why)
{
	struct parser_file *file;
	int r = parser_open(parser, magic_file_make("other", O_RDONLY), OWNER_OF_ATTACKER, &file,
			    why);

	if (r < 0)
		return r;
	check_text(parser_file_identity(file)->debuglink);
	parser_file_free(file);
	return 0;
}

/* Calls of all kinds, on the attacker's file: how many failed. */
static size_t ask_all(struct trial *t, const char *name)
{
	struct parser_file *file = trial_open(t, OWNER_OF_ATTACKER, name, O_RDONLY);
	struct fault why;
	size_t n = 0;

	n += ask_name(file, &why) < 0;
	n += ask_lines(file, &why) < 0;
	n += ask_code(file, &why) < 0;
	n += ask_instructions(t->parser, &why) < 0;
	n += ask_to_open(t->parser, &why) < 0;
	parser_file_free(file);
	return n;
}

/* Calls after an attack: the good file first, then one of the attacker in a new process. */
static void check_others(struct trial *t)
{
	struct parser_file *next;

	trial_check_name(t->good);
	trial_end_parsers(t);
	next = trial_open(t, OWNER_OF_ATTACKER, "good_function", O_RDONLY);
	trial_check_name(next);
	parser_file_free(next);
	trial_end_parsers(t);
}

static void test_wrong_answers_are_refused(void **state)
{
	static const char *const ways[] = {
		"ranges",           "ranges-by-one",  "text",       "text-by-one",
		"no-text",          "offset",         "far-offset", "unterminated",
		"inverted",         "outside",        "around",     "too-many",
		"long-name",        "type",           "short",      "empty",
		"positive",         "lost",           "refused",    "errno",
		"oversize",         "large",          "half",       "descriptors",
		"many-descriptors", "no-descriptors",
	};
	struct trial t;
	size_t n_fds;

	trial_begin(&t, program, TIMEOUT_US);
	n_fds = count_descriptors();
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct parser_file *file;
		struct fault why = {};
		char name[64];

		snprintf(name, sizeof(name), "forgery:%s:", ways[i]);
		file = trial_open(&t, OWNER_OF_ATTACKER, name, O_RDONLY);
		assert_int_equal(ask_name(file, &why), -EREMOTEIO);
		print_message("%s: %s\n", ways[i], why.text);
		assert_string_equal(parser_file_failure(file), why.text);
		parser_file_free(file);
		check_others(&t);
		assert_int_equal(count_descriptors(), n_fds);
	}
	assert_int_equal(t.n_killed, 0);
	trial_end(&t);
}

static void test_what_a_terminal_would_obey_is_no_part_of_a_name(void **state)
{
	struct parser_file *file;
	struct fault why = {};
	char name[64] = "";
	struct trial t;

	trial_begin(&t, program, TIMEOUT_US);
	file = trial_open(&t, OWNER_OF_ATTACKER, "forgery:terminal:", O_RDONLY);
	assert_int_equal(trial_name(file, name, sizeof(name), &why), 0);
	assert_string_equal(name, "?[2J?harm");
	parser_file_free(file);
	check_others(&t);
	trial_end(&t);
}

static void test_an_answer_that_nobody_asked_for_is_not_used(void **state)
{
	struct parser_file *file;
	struct fault why = {};
	const uint64_t *ended;
	struct trial t;
	int r;

	trial_begin(&t, program, TIMEOUT_US);
	file = trial_open(&t, OWNER_OF_ATTACKER, "forgery:twice:", O_RDONLY);
	assert_int_equal(ask_name(file, &why), 0);
	/* it comes before the next request, which a new process answers, or in place of its answer
	 */
	r = ask_lines(file, &why);
	assert_true(r == 0 || r == -EREMOTEIO);
	ended = parser_get_counters(t.parser)->n_ended;
	assert_int_equal(ended[r ? PARSER_END_ANSWER : PARSER_END_DIED], 1);
	parser_file_free(file);
	check_others(&t);
	trial_end(&t);
}

static void test_answers_changed_at_random(void **state)
{
	size_t n_failed = 0, n_fds;
	struct trial t;
	char name[64];

	trial_begin(&t, program, TIMEOUT_US);
	n_fds = count_descriptors();
	for (uint64_t seed = 1; seed <= n_seeds; seed++) {
		snprintf(name, sizeof(name), "forgery:random:%lu", seed);
		n_failed += ask_all(&t, name);
		trial_check_name(t.good);
		trial_end_parsers(&t);
		assert_int_equal(count_descriptors(), n_fds);
	}
	check_others(&t);
	trial_end(&t);
	print_message("%lu seeds, %lu calls, %zu failed\n", n_seeds, 5 * n_seeds, n_failed);
	assert_true(n_failed > 0);
}

static void test_memory_written_over_at_random(void **state)
{
	size_t n_failed = 0, n_fds;
	struct trial t;
	char name[64];

	trial_begin(&t, program, TIMEOUT_US / 10);
	n_fds = count_descriptors();
	for (uint64_t seed = 1; seed <= n_seeds; seed++) {
		snprintf(name, sizeof(name), "damage:memory:%lu", seed);
		n_failed += ask_all(&t, name);
		trial_check_name(t.good);
		trial_end_parsers(&t);
		assert_int_equal(count_descriptors(), n_fds);
	}
	check_others(&t);
	print_message("%lu seeds, %lu calls, %zu failed; %zu processes ended by themselves, "
		      "%zu by a forbidden call, %zu by another signal, %zu not\n",
		      n_seeds, 5 * n_seeds, n_failed, t.n_left, t.n_forbidden, t.n_other,
		      t.n_killed);
	trial_end(&t);
	assert_true(n_failed > 0);
}

static void check_time_out(const char *verb)
{
	struct parser_file *file;
	struct fault why = {};
	struct trial t;
	char name[64];

	snprintf(name, sizeof(name), "attack:%s:", verb);
	trial_begin(&t, program, TIMEOUT_US);
	t.parser->connections.timeout_us = SHORT_US;
	file = trial_open(&t, OWNER_OF_ATTACKER, name, O_RDONLY);
	assert_int_equal(ask_name(file, &why), -EREMOTEIO);
	assert_string_equal(why.text, "its parser did not answer in time");
	t.parser->connections.timeout_us = TIMEOUT_US;
	parser_file_free(file);
	trial_check_name(t.good);
	check_others(&t);
	trial_end(&t);
	assert_int_equal(t.n_killed, 0); /* the kernel has done it, when the client hung up */
}

static void test_a_parser_that_never_answers(void **state)
{
	check_time_out("spin");
	check_time_out("silence");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong_answers_are_refused),
		cmocka_unit_test(test_what_a_terminal_would_obey_is_no_part_of_a_name),
		cmocka_unit_test(test_an_answer_that_nobody_asked_for_is_not_used),
		cmocka_unit_test(test_answers_changed_at_random),
		cmocka_unit_test(test_memory_written_over_at_random),
		cmocka_unit_test(test_a_parser_that_never_answers),
	};
	const char *seeds = getenv("SEEDS");

	if (argc < 2)
		return EXIT_FAILURE;
	program = argv[1];
	n_seeds = seeds ? strtoull(seeds, NULL, 10) : SEEDS;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
