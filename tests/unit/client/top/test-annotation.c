/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A function of which there is no file: with code that was kept, and without any. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "client/top/annotation.h"
#include "tests/support/profile-fixture.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#define START 0x100

/* nop; nop; jne to the first; call *%rax; ret; a byte that is no instruction */
static const uint8_t code[] = { 0x90, 0x90, 0x75, 0xfc, 0xff, 0xd0, 0xc3, 0x06 };

#define JNE  (START + 2)
#define CALL (START + 4)

struct fixture {
	struct profile_source *source;
	struct code_span span;
};

static void add_block(struct profile *p, uint32_t object, uint64_t start, uint64_t end,
		      uint64_t runs, uint64_t cycles)
{
	struct profile_block block = { .object = object,
				       .start = start,
				       .end = end,
				       .runs = runs,
				       .cycles = cycles,
				       .cycles_rows = cycles ? runs : 0 };

	assert_true(profile_add_block(p, &block) >= 0);
}

static void add_branch(struct profile *p, uint32_t object, uint64_t from, uint64_t to,
		       uint64_t taken, uint64_t mispredicted)
{
	struct profile_branch branch = { .from = { object, from },
					 .to = { object, to },
					 .taken = taken,
					 .mispredicted = mispredicted,
					 .predicted = taken - mispredicted };

	assert_true(profile_add_branch(p, &branch) >= 0);
}

/* The loop ran 100 times, and was left 20 times by falling through to the call. */
static struct profile *make_profile(void)
{
	struct profile *p = fixture_new();
	uint32_t object = fixture_object(p, "/nowhere/at/all", 1);
	uint32_t process = fixture_process(p, "x", "/nowhere/at/all");

	profile_add_function(
		p, &(struct profile_function){
			   .object = object, .start = START, .size = sizeof(code), .name = "f" });
	fixture_stack(p, process, PROFILE_NONE, object, START + 1, 6);
	fixture_stack(p, process, PROFILE_NONE, object, START + 6, 2);
	fixture_stack(p, process, PROFILE_NONE, object, 0x9000, 2);
	add_block(p, object, START, JNE, 80, 160);
	add_block(p, object, START, CALL, 20, 80);
	add_branch(p, object, JNE, START, 80, 8);
	add_branch(p, object, CALL, 0x5000, 15, 0);
	add_branch(p, object, CALL, 0x6000, 5, 0);
	return fixture_finalized(p);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct symbolizer_settings symbols = {};
	const struct profile_filter filter = PROFILE_FILTER_INIT;
	struct fault fault;

	assert_int_equal(profile_source_new(&f->source, &symbols), 0);
	f->source->profile = make_profile();
	assert_int_equal(profile_source_filter(f->source, &filter), 0);
	assert_int_equal(code_span_find(&f->span, f->source, &(struct profile_source_settings){},
					"f", NULL, &fault),
			 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	code_span_done(&f->span);
	profile_source_free(f->source);
	free(f);
	return 0;
}

/* @userdata: how many bytes there are, or -errno. */
static int read_kept(const struct profile_object *object, uint64_t start, void *ret, size_t n,
		     uint16_t *ret_machine, void *userdata)
{
	const int *r = userdata;

	assert_int_equal(start, START);
	assert_string_equal(object->path, "/nowhere/at/all");
	if (*r > 0)
		memcpy(ret, code, (size_t)*r);
	*ret_machine = EM_X86_64;
	return *r;
}

static void test_code_that_was_kept(void **state)
{
	static const char *const texts[] = { "nop",      "nop", "jne 0x100",
					     "call rax", "ret", ".byte 0x06" };
	struct fixture *f = *state;
	_cleanup_(annotation_freep) struct annotation *a = NULL;
	int n = sizeof(code);

	assert_int_equal(annotation_new(&a, f->source, &f->span, read_kept, &n), 0);
	assert_int_equal(a->origin, CODE_DAEMON);
	assert_false(a->truncated);
	assert_int_equal(a->n_lines, 6);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(a->lines[i].text, texts[i]);
	assert_int_equal(a->samples, 8);
	assert_int_equal(a->all_samples, 10);
	assert_int_equal(a->lines[1].samples, 6);
	assert_int_equal(a->lines[4].samples, 2);
	assert_int_equal(a->max_coverage, 100);
	assert_int_equal(a->n_ran, 4);
	assert_null(a->lines[4].range);
}

static void test_a_part_of_the_code(void **state)
{
	struct fixture *f = *state;
	_cleanup_(annotation_freep) struct annotation *a = NULL;
	int n = JNE + 2 - START;

	assert_int_equal(annotation_new(&a, f->source, &f->span, read_kept, &n), 0);
	assert_true(a->truncated);
	assert_int_equal(a->n_lines, 3);
}

/* Of code without a function no more is wanted than ran: up to the call. */
static void test_code_around_an_address_is_not_cut(void **state)
{
	struct fixture *f = *state;
	struct annotation *a;
	int n;

	f->span.name = NULL;
	for (n = CALL - START; n <= CALL + 1 - START; n++) {
		assert_int_equal(annotation_new(&a, f->source, &f->span, read_kept, &n), 0);
		assert_true(a->truncated == (n == CALL - START));
		annotation_free(a);
	}
}

static void test_branches_and_their_cycles(void **state)
{
	struct fixture *f = *state;
	_cleanup_(annotation_freep) struct annotation *a = NULL;
	const struct annotation_line *jne, *call;
	int n = sizeof(code);

	assert_int_equal(annotation_new(&a, f->source, &f->span, read_kept, &n), 0);
	assert_true(a->lines[0].begins && a->lines[0].range->is_target && !a->lines[0].ends);
	assert_false(a->lines[1].begins);
	jne = &a->lines[2];
	assert_true(jne->ends && jne->range->is_branch);
	assert_int_equal(jne->range->taken, 80);
	assert_int_equal(jne->range->mispredicted, 8);
	assert_true(jne->has_target);
	assert_int_equal(jne->target.offset, START);
	assert_float_equal(annotation_line_ipc(jne), 3.0 * 80 / 160, 1e-9);
	call = &a->lines[3];
	assert_true(call->ends && call->has_target);
	assert_int_equal(call->target.offset, 0x5000); /* more often than to 0x6000 */
	assert_int_equal(call->range->coverage, 20);
	assert_float_equal(annotation_line_ipc(call), 4.0 * 20 / 80, 1e-9);
	assert_float_equal(annotation_ipc(a), (3.0 * 80 + 4 * 20) / 240, 1e-9);
	assert_true(a->has_cycles);
}

static void check_places(const struct annotation *a)
{
	assert_int_equal(a->origin, CODE_NONE);
	assert_int_equal(a->n_lines, 3);
	assert_null(a->lines[0].text);
	assert_int_equal(a->lines[0].offset, START);
	assert_int_equal(a->lines[0].size, 3);
	assert_int_equal(a->lines[0].samples, 6);
	assert_true(a->lines[0].begins && a->lines[0].ends);
	assert_int_equal(a->lines[1].range->coverage, 20);
	assert_int_equal(a->lines[2].offset, START + 6);
	assert_int_equal(a->lines[2].samples, 2);
	assert_null(a->lines[2].range);
}

static void test_without_code(void **state)
{
	static const int answers[] = { 0, -EOPNOTSUPP };
	struct fixture *f = *state;
	struct annotation *a;

	assert_int_equal(annotation_new(&a, f->source, &f->span, NULL, NULL), 0);
	check_places(a);
	annotation_free(a);
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		int answer = answers[i];

		assert_int_equal(annotation_new(&a, f->source, &f->span, read_kept, &answer), 0);
		check_places(a);
		annotation_free(a);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_code_that_was_kept),
		TEST(test_a_part_of_the_code),
		TEST(test_code_around_an_address_is_not_cut),
		TEST(test_branches_and_their_cycles),
		TEST(test_without_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
