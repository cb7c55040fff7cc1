/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Machine code of any bytes: decoded to its end, whatever it is, and its fingerprint taken. */
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/whole-fingerprint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition)
{
	if (!condition)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t machines[] = { EM_X86_64, EM_386, EM_AARCH64 };
	static struct disassembler *disassemblers[ARRAY_SIZE(machines)];
	struct disassembler **d;
	struct instruction i;
	size_t at = 0, which;

	if (size == 0)
		return 0;
	which = *data % ARRAY_SIZE(machines);
	d = &disassemblers[which];
	check(*d || disassembler_new(d, machines[which]) == 0);
	data++;
	size--;
	while (disassembler_decode(*d, data + at, size - at, at - 1, &i)) {
		check(i.size > 0 && i.size <= size - at && strlen(i.text) > 0);
		check(i.kind < N_BRANCH_KINDS);
		at += i.size;
	}
	check(at == size);
	check(whole_fingerprint(*d, data, size, 0x1000) != 0);
	return 0;
}
