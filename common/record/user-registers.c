/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kernel's numbers are those of enum perf_event_x86_regs and enum perf_event_arm_regs
 * (asm/perf_regs.h of each machine); a sample has the registers of its mask, in that order.
 */
#include "common/record/user-registers.h"

#include <elf.h>
#include <string.h>

#include "common/record/event.h"
#include "common/util/macro.h"

/* Of the kernel's numbers the DWARF number; all others are in no general register. */
static const uint8_t of_x86_64[] = {
	[0] = 0,   [1] = 3,   [2] = 2,   [3] = 1,   [4] = 4,   [5] = 5,
	[6] = 6,   [7] = 7,   [8] = 16,  [16] = 8,  [17] = 9,  [18] = 10,
	[19] = 11, [20] = 12, [21] = 13, [22] = 14, [23] = 15,
};
static const uint8_t of_aarch64[] = {
	0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
};

struct numbering {
	const char *name; /* by uname(2) */
	uint16_t machine;
	const uint8_t *numbers;
	uint64_t general;       /* the kernel's numbers that count: a bit each */
	uint8_t ip, sp, fp, lr; /* the kernel's numbers */
};

#define NONE 255

static const struct numbering numberings[] = {
	{ "x86_64", EM_X86_64, of_x86_64, 0xff01ff, 8, 7, 6, NONE },
	{ "aarch64", EM_AARCH64, of_aarch64, 0x1ffffffff, 32, 31, 29, 30 },
};

static void set_register(const struct numbering *n, unsigned int number, uint64_t value,
			 struct user_registers *ret)
{
	if (!(n->general >> number & 1))
		return;
	if (number == n->ip) {
		ret->ip = value;
		return;
	}
	if (number == n->sp)
		ret->sp = value;
	else if (number == n->fp)
		ret->fp = value;
	else if (number == n->lr)
		ret->lr = value;
	ret->values[n->numbers[number]] = value;
	ret->known |= 1u << n->numbers[number];
}

static const struct numbering *find_numbering(uint16_t machine)
{
	for (size_t i = 0; i < ARRAY_SIZE(numberings); i++)
		if (numberings[i].machine == machine)
			return &numberings[i];
	return NULL;
}

bool user_registers_read(const struct sample *sample, uint16_t machine, struct user_registers *ret)
{
	const struct numbering *n = find_numbering(machine);
	const uint64_t *value = sample->user_registers;
	uint64_t mask = sample->user_registers_mask;

	if (!n || !value || sample->user_is_32_bit || !(mask >> n->ip & 1) || !(mask >> n->sp & 1))
		return false;
	*ret = (struct user_registers){ 0 };
	for (; mask != 0; mask &= mask - 1)
		set_register(n, (unsigned int)__builtin_ctzll(mask), *value++, ret);
	return true;
}

uint16_t user_registers_machine(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(numberings); i++)
		if (strcmp(numberings[i].name, name) == 0)
			return numberings[i].machine;
	return 0;
}

uint16_t user_registers_own_machine(void)
{
#if defined(__x86_64__)
	return EM_X86_64;
#elif defined(__aarch64__)
	return EM_AARCH64;
#else
	return 0;
#endif
}
