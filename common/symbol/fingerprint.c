/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * FNV-1a in its 64-bit form (Fowler, Noll, Vo) over the bytes of each instruction that do not say how far away
 * something is. Code whose fingerprint is the same so has its instructions at the same offsets.
 */
#include "common/symbol/fingerprint.h"

#include "common/util/macro.h"

#define FNV_BASIS 0xcbf29ce484222325ull
#define FNV_PRIME 0x100000001b3ull

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ p[i]) * FNV_PRIME;
	return hash;
}

static uint64_t hash_instruction(uint64_t hash, const struct instruction *instruction,
				 uint64_t start, size_t n)
{
	uint64_t distance = instruction->target - start;

	hash = hash_bytes(hash, instruction->fixed, instruction->size);
	if (instruction->kind != BRANCH_UNKNOWN && instruction->has_target && distance < n)
		hash = hash_bytes(hash, &distance, sizeof(distance));
	return hash;
}

uint64_t fingerprint_code(struct disassembler *disassembler, const uint8_t *code, size_t n,
			  uint64_t address)
{
	struct instruction instruction;
	uint64_t hash = FNV_BASIS;
	size_t at = 0;

	n = MIN(n, (size_t)FINGERPRINT_MAX_BYTES);
	hash = hash_bytes(hash, &n, sizeof(n));
	while (disassembler_decode(disassembler, code + at, n - at, address + at, &instruction)) {
		hash = hash_instruction(hash, &instruction, address, n);
		at += instruction.size;
	}
	return hash ?: 1;
}
