/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * x86-64: `call rel32` (e8), and `call r/m` (ff /2) of each length that its operand may have;
 * prefixes before it do not matter. AArch64: `bl`, `blr` and `blraa` with its relatives.
 */
#include "common/unwind/call-site.h"

#include <elf.h>
#include <endian.h>
#include <string.h>

#define SIB_RM       4
#define NO_BASE      5
#define MOD_REGISTER 3

/* The size of `call r/m` with the operand that starts at @p; 0 if the bytes end before. */
static size_t size_of_indirect(const uint8_t *p, size_t n)
{
	static const size_t displacements[] = { 0, 1, 4 };
	uint8_t mod = p[0] >> 6, rm = p[0] & 7;
	size_t size = 2;

	if (mod == MOD_REGISTER)
		return size;
	if (rm == SIB_RM) {
		if (n < 2)
			return 0;
		return size + 1 + (mod == 0 && (p[1] & 7) == NO_BASE ? 4 : displacements[mod]);
	}
	return size + (mod == 0 && rm == NO_BASE ? 4 : displacements[mod]);
}

static bool precedes_x86(const uint8_t *code, size_t n)
{
	if (n >= 5 && code[n - 5] == 0xe8)
		return true;
	for (size_t size = 2; size <= 7 && size <= n; size++) {
		const uint8_t *p = code + n - size;

		if (p[0] == 0xff && (p[1] >> 3 & 7) == 2 &&
		    size_of_indirect(p + 1, size - 1) == size)
			return true;
	}
	return false;
}

static bool precedes_a64(const uint8_t *code, size_t n)
{
	uint32_t word;

	if (n < sizeof(word))
		return false;
	memcpy(&word, code + n - sizeof(word), sizeof(word));
	word = le32toh(word);
	return (word & 0xfc000000U) == 0x94000000U || (word & 0xfffffc1fU) == 0xd63f0000U ||
	       (word & 0xfefff800U) == 0xd63f0800U;
}

bool call_site_precedes(uint16_t machine, const uint8_t *code, size_t n)
{
	return machine == EM_AARCH64 ? precedes_a64(code, n) : precedes_x86(code, n);
}
