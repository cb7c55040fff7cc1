/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * x86-64: a stub is `jmp *slot(%rip)`, which `endbr64` and a `bnd` prefix may precede; where the
 * jumps are in a table of their own (.plt.sec), those of .plt only push the relocation's index and
 * go on to the header. The header is the one that pushes a slot (`push GOT+8(%rip)`).
 *
 * AArch64: `adrp x16, page; ldr x17, [x16, #offset]; add ...; br x17`, which `bti c` may precede
 * and a pointer authentication be part of. The header saves registers first.
 */
#include "common/elf/plt.h"

#include <elf.h>
#include <endian.h>
#include <string.h>

#include "common/util/macro.h"

static uint32_t word_at(const uint8_t *p)
{
	uint32_t word;

	memcpy(&word, p, sizeof(word));
	return le32toh(word);
}

/* What one stub of x86-64 does; false where it is none. */
static bool decode_x86(struct elf_stub *stub, const uint8_t *p, size_t n)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = 0;

	if (n >= 4 && !memcmp(p, endbr64, 4))
		at = 4;
	if (at < n && p[at] == 0xf2)
		at++;
	if (n - at < 6)
		return false;
	if (p[at] == 0xff && (p[at + 1] == 0x25 || p[at + 1] == 0x35)) {
		stub->header = p[at + 1] == 0x35;
		stub->slot =
			stub->address + at + 6 + (uint64_t)(int64_t)(int32_t)word_at(p + at + 2);
		return true;
	}
	stub->push = word_at(p + at + 1);
	return p[at] == 0x68;
}

static int for_each_x86(const uint8_t *bytes, size_t n, uint64_t address, uint64_t entry_size,
			elf_stub_handler handler, void *userdata)
{
	size_t step = entry_size == 8 ? 8 : 16;

	for (size_t at = 0; at < n; at += step) {
		struct elf_stub stub = { .address = address + at, .size = MIN(step, n - at) };
		int r;

		if (!decode_x86(&stub, bytes + at, stub.size))
			continue;
		r = handler(&stub, userdata);
		if (r < 0)
			return r;
	}
	return 0;
}

#define A64_NOP       0xd503201fU
#define A64_SAVE_PAIR 0xa9bf7bf0U /* stp x16, x30, [sp, #-16]! */

static bool is_branch_a64(uint32_t word)
{
	return (word & 0xfffffc1fU) == 0xd61f0000U || (word & 0xfffff800U) == 0xd71f0800U ||
	       (word & 0xfffff81fU) == 0xd61f081fU;
}

/* `adrp x16, page` at @pc followed by `ldr x17, [x16, #offset]`: the slot; else 0. */
static uint64_t slot_a64(uint32_t adrp, uint32_t ldr, uint64_t pc)
{
	uint64_t page;

	if ((adrp & 0x9f00001fU) != 0x90000010U || (ldr & 0xffc003ffU) != 0xf9400211U)
		return 0;
	page = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
	if (page & (1U << 20))
		page |= ~((1UL << 21) - 1);
	return (pc & ~0xfffUL) + (page << 12) + ((uint64_t)(ldr >> 10 & 0xfff) << 3);
}

static int for_each_a64(const uint8_t *bytes, size_t n, uint64_t address, elf_stub_handler handler,
			void *userdata)
{
	struct elf_stub stub = { .address = address };
	size_t words = n / 4, start = 0;

	/* A stub ends with its branch, or the padding after it. */
	for (size_t i = 0; i < words; i++) {
		uint32_t word = word_at(bytes + 4 * i);
		int r;

		if (word == A64_SAVE_PAIR)
			stub.header = true;
		if (i + 1 < words && !stub.slot)
			stub.slot = slot_a64(word, word_at(bytes + 4 * i + 4), address + 4 * i);
		if (!is_branch_a64(word))
			continue;
		while (i + 1 < words && word_at(bytes + 4 * i + 4) == A64_NOP)
			i++;
		stub.address = address + 4 * start;
		stub.size = 4 * (i + 1 - start);
		start = i + 1;
		r = stub.slot ? handler(&stub, userdata) : 0;
		if (r < 0)
			return r;
		stub = (struct elf_stub){ 0 };
	}
	return 0;
}

int elf_plt_for_each_stub(const struct elf_plt *plt, elf_stub_handler handler, void *userdata)
{
	if (plt->machine == EM_X86_64)
		return for_each_x86(plt->bytes, plt->n, plt->address, plt->entry_size, handler,
				    userdata);
	if (plt->machine == EM_AARCH64)
		return for_each_a64(plt->bytes, plt->n, plt->address, handler, userdata);
	return 0;
}
