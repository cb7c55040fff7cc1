/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * FNV-1a with 64 bits (Fowler, Noll, Vo) over the bytes of each instruction, without relative
 * distances. So code with the same fingerprint has its instructions at the same offsets.
 */
#include "common/elf/fingerprint.h"

#include <stdbool.h>

#include "common/util/fnv.h"

static uint64_t hash_instruction(uint64_t hash, const struct instruction *instruction,
				 uint64_t start, uint64_t n)
{
	uint64_t distance = instruction->target - start;

	hash = fnv_add(hash, instruction->fixed, instruction->size);
	if (instruction->kind != BRANCH_UNKNOWN && instruction->has_target && distance < n)
		hash = fnv_add(hash, &distance, sizeof(distance));
	return hash;
}

void fingerprint_start(struct fingerprint *ret, struct disassembler *disassembler, uint64_t size,
		       uint64_t address)
{
	*ret = (struct fingerprint){
		.disassembler = disassembler,
		.address = address,
		.size = size,
		.hash = fnv_add(FNV_BASIS, &size, sizeof(size)),
	};
}

size_t fingerprint_add(struct fingerprint *fingerprint, const uint8_t *code, size_t n)
{
	bool is_last = fingerprint->n_done + n >= fingerprint->size;
	struct instruction instruction;
	size_t at = 0;

	/* the last instruction may be incomplete */
	while (n - at >= (is_last ? 1 : INSTRUCTION_MAX) &&
	       disassembler_read(fingerprint->disassembler, code + at, n - at,
				 fingerprint->address + fingerprint->n_done, &instruction)) {
		fingerprint->hash = hash_instruction(fingerprint->hash, &instruction,
						     fingerprint->address, fingerprint->size);
		fingerprint->n_done += instruction.size;
		at += instruction.size;
	}
	return at;
}

uint64_t fingerprint_end(const struct fingerprint *fingerprint)
{
	return fingerprint->hash ?: 1;
}
