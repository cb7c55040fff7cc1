/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <string.h>

#include "common/unwind/call-site.h"
#include "common/util/macro.h"

struct site {
	uint8_t n, bytes[CALL_SITE_BYTES];
};

/* Whether a call precedes, with as many bytes before it as there may be. */
static bool precedes(uint16_t machine, const struct site *site)
{
	uint8_t code[CALL_SITE_BYTES] = { 0 };

	memcpy(code + sizeof(code) - site->n, site->bytes, site->n);
	assert_int_equal(call_site_precedes(machine, code, sizeof(code)),
			 call_site_precedes(machine, site->bytes, site->n));
	return call_site_precedes(machine, code, sizeof(code));
}

static void test_calls_of_x86_64(void **state)
{
	static const struct site calls[] = {
		{ 5, { 0xe8, 0x10, 0x20, 0x00, 0x00 } },             /* call rel32 */
		{ 6, { 0xff, 0x15, 0x01, 0x02, 0x03, 0x04 } },       /* *slot(%rip) */
		{ 2, { 0xff, 0xd0 } },                               /* *%rax */
		{ 3, { 0x41, 0xff, 0xd4 } },                         /* *%r12 */
		{ 2, { 0xff, 0x13 } },                               /* *(%rbx) */
		{ 3, { 0xff, 0x50, 0x18 } },                         /* *24(%rax) */
		{ 6, { 0xff, 0x90, 0x00, 0x01, 0x00, 0x00 } },       /* *256(%rax) */
		{ 3, { 0xff, 0x14, 0xc7 } },                         /* *(%rdi,%rax,8) */
		{ 4, { 0xff, 0x54, 0x24, 0x08 } },                   /* *8(%rsp) */
		{ 7, { 0xff, 0x94, 0x24, 0x80, 0x00, 0x00, 0x00 } }, /* *128(%rsp) */
		{ 7, { 0xff, 0x14, 0xc5, 0x00, 0x10, 0x00, 0x00 } }, /* *4096(,%rax,8) */
		{ 3, { 0x3e, 0xff, 0xd0 } },                         /* notrack *%rax */
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		assert_true(precedes(EM_X86_64, &calls[i]));
}

static void test_other_instructions_of_x86_64(void **state)
{
	static const struct site others[] = {
		{ 0, {} },
		{ 1, { 0xc3 } },
		{ 5, { 0xe9, 0x10, 0x20, 0x00, 0x00 } },
		{ 2, { 0xff, 0xe0 } }, /* jmp *%rax */
		{ 2, { 0xff, 0x50 } }, /* a call that has another byte to come */
		{ 2, { 0xff, 0x14 } },
		{ 4, { 0x48, 0x83, 0xec, 0x08 } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(precedes(EM_X86_64, &others[i]));
}

static void test_aarch64(void **state)
{
	static const struct site calls[] = {
		{ 4, { 0x01, 0x00, 0x00, 0x94 } }, /* bl */
		{ 4, { 0x20, 0x00, 0x3f, 0xd6 } }, /* blr x1 */
		{ 4, { 0x1f, 0x09, 0x3f, 0xd6 } }, /* blraaz x8 */
		{ 4, { 0x11, 0x09, 0x3f, 0xd7 } }, /* blraa x8, x17 */
	};
	static const struct site others[] = {
		{ 0, {} },
		{ 4, { 0x01, 0x00, 0x00, 0x14 } }, /* b */
		{ 4, { 0x20, 0x00, 0x1f, 0xd6 } }, /* br x1 */
		{ 4, { 0xc0, 0x03, 0x5f, 0xd6 } }, /* ret */
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		assert_true(precedes(EM_AARCH64, &calls[i]));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(precedes(EM_AARCH64, &others[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_of_x86_64),
		cmocka_unit_test(test_other_instructions_of_x86_64),
		cmocka_unit_test(test_aarch64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
