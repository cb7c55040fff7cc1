/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is known of a process's code from its calls alone: where functions begin, and which of them
 * are landed in by a jump out of others.
 *
 * An address belongs to the function that begins last before it, of those that were seen called. So
 * nothing is read but the rows themselves, and what they did not show is not known: a function that
 * is only jumped to is taken for a part of the one before it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/macro.h"

#define FUNCTION_STARTS_NONE         0u
#define FUNCTION_STARTS_MAX          16384u /* 384 KiB a process */
#define FUNCTION_STARTS_CACHE_BITS   16
#define FUNCTION_STARTS_MAX_MAPPINGS 256u
#define FUNCTION_STARTS_MAX_FUNCTION \
	65535u /* bytes; beyond, an address belongs to a function unseen */

struct function_starts;

/* How far functions reach, of those asked for: the same are asked for again and again. Zeroed it is
 * empty. */
struct function_starts_cache {
	uint64_t extents[1u << FUNCTION_STARTS_CACHE_BITS];
};

/* @serial: another for each. The cache outlives it, and may serve many. 0 or -ENOMEM. */
int function_starts_new(struct function_starts **ret, int32_t pid, uint32_t serial,
			struct function_starts_cache *cache);
struct function_starts *function_starts_free(struct function_starts *e);
DEFINE_CLEANUP(struct function_starts *, function_starts_free);

int32_t function_starts_pid(const struct function_starts *e);

/* Tasks that execute it; who counts is the caller. */
unsigned int *function_starts_users(struct function_starts *e);

/* The function at @to was called by the call at @from. 0 or -ENOMEM. */
int function_starts_learn(struct function_starts *e, uint64_t from, uint64_t to);

/* Whether it was never seen called by another. */
bool function_starts_has_one_caller(const struct function_starts *e, uint64_t to);

/* Forgets the functions in [start, end): other code is there now. */
void function_starts_forget(struct function_starts *e, uint64_t start, uint64_t end);

/* The start of the function that @address lies in, or FUNCTION_STARTS_NONE. */
uint64_t function_starts_function(const struct function_starts *e, uint64_t address);

/* How many bytes from @start on are of the function that begins there, at most
 * FUNCTION_STARTS_MAX_FUNCTION; 0: none does. */
uint32_t function_starts_extent(const struct function_starts *e, uint64_t start);

/* Code at @address ran in the function at @to, as far as is known. */
void function_starts_reach(struct function_starts *e, uint64_t to, uint64_t address);

/* As function_starts_function(), but none if no code so far behind its start was seen to run in it.
 */
uint64_t function_starts_surely(const struct function_starts *e, uint64_t address);

/*
 * The program was replaced by another: what code is mapped from now on is all that there is. Rows
 * of code that is not are of the program before.
 */
void function_starts_begin_mappings(struct function_starts *e);

/* Code is mapped in [start, end). Of too many mappings none is known. */
void function_starts_map(struct function_starts *e, uint64_t start, uint64_t end);

/* Whether there is code, as far as is known. */
bool function_starts_has_code(const struct function_starts *e, uint64_t address);

/* A number of no other, that changes when anything that was learnt is forgotten. */
uint64_t function_starts_identity(const struct function_starts *e);

/* The same, that changes with every function that comes or goes. */
uint64_t function_starts_version(const struct function_starts *e);

/*
 * Code of the function at @jump_target ran, with rows above its own that were none of its calls:
 * the last of them entered the function at @from. Either @from's function has jumped out to it, and
 * those rows are dead; or it has called it by a jump. What did the stack do in the end?
 */
enum jump_kind {
	JUMP_UNKNOWN,
	JUMP_OUT,  /* longjmp, an exception */
	JUMP_TAIL, /* a tail call */
};

enum jump_kind function_starts_jump_kind(const struct function_starts *e, uint64_t from,
					 uint64_t jump_target);

/* Whether these two in particular are known to. */
bool function_starts_jumps_out(const struct function_starts *e, uint64_t from,
			       uint64_t jump_target);

/* What was learnt of one such jump: JUMP_OUT or JUMP_TAIL. */
void function_starts_note_jump(struct function_starts *e, uint64_t from, uint64_t jump_target,
			       enum jump_kind kind);
