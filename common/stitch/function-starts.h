/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the calls of a process show of its code: where functions begin, and which of them are jumped
 * to out of others.
 *
 * Where whoever stitches can tell functions exactly (function-range.h), they are asked for once and
 * remembered. Otherwise an address belongs to the last function before it that was seen called; a
 * function that is only ever jumped to counts as a part of the one before it then.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/stitch/function-range.h"
#include "common/util/macro.h"

#define FUNCTION_STARTS_NONE         0u
#define FUNCTION_STARTS_MAX          16384u /* 384 KiB a process */
#define FUNCTION_STARTS_CACHE_BITS   16
#define FUNCTION_STARTS_MAX_MAPPINGS 256u
#define FUNCTION_STARTS_MAX_BYTES \
	65535u /* bytes; beyond them an address belongs to an unseen function */

struct function_starts;

/* What all processes share: who knows functions exactly, or NULL; and a cache of extents, as the
 * same functions are looked up again and again. Zeroed it is empty. */
struct function_starts_cache {
	function_range_finder find;
	void *userdata;
	uint64_t extents[1u << FUNCTION_STARTS_CACHE_BITS];
};

/* @serial differs for each. The cache outlives it, and may serve many. 0 or -ENOMEM. */
int function_starts_new(struct function_starts **ret, int32_t pid, uint32_t serial,
			struct function_starts_cache *cache);
struct function_starts *function_starts_free(struct function_starts *e);
DEFINE_CLEANUP(struct function_starts *, function_starts_free);

int32_t function_starts_pid(const struct function_starts *e);

/* The number of tasks that execute the code; the caller maintains it. */
unsigned int *function_starts_users(struct function_starts *e);

/* Notes that the call at @from entered the function at @to. 0 or -ENOMEM. */
int function_starts_learn(struct function_starts *e, uint64_t from, uint64_t to);

/* Asks for the function around @address, unless it is known. 0 or -ENOMEM. */
int function_starts_ask(struct function_starts *e, uint64_t address);

/* Whether @address is in the function that is entered at @start, or in a part of it apart. */
bool function_starts_contains(const struct function_starts *e, uint64_t start, uint64_t address);

/* Whether all calls of the function at @to that were seen are one. */
bool function_starts_has_one_caller(const struct function_starts *e, uint64_t to);

/* What kind of function @address is in; FUNCTION_PLAIN if that is not known. */
enum function_kind function_starts_kind(const struct function_starts *e, uint64_t address);

/* Whether functions of the process jump out of others, as far as is known. */
bool function_starts_jump_out(const struct function_starts *e);

/* Notes that calls of the process were left. */
void function_starts_note_left(struct function_starts *e);

/* Whether a function with an exact range is at @address. */
bool function_starts_is_exact(const struct function_starts *e, uint64_t address);

/* Whether no call was seen to be made by the function entered at @address, whose range is exact: it
 * is nobody's caller, but may jump to others, like a stub. */
bool function_starts_never_calls(const struct function_starts *e, uint64_t address);

/* What was seen of a function when another one jumped out of functions. */
enum function_mark {
	FUNCTION_WAS_LEFT = 1, /* it was left */
	FUNCTION_GOES_ON = 2,  /* it went on, or what it had called */
};

/* Marks the function at @address, if its range is exact. */
void function_starts_mark(struct function_starts *e, uint64_t address, enum function_mark mark);

bool function_starts_has_mark(const struct function_starts *e, uint64_t address,
			      enum function_mark mark);

/* Notes that the function entered at @from makes tail calls to the one at @jump_target. */
void function_starts_note_tail(struct function_starts *e, uint64_t from, uint64_t jump_target);

/* Forgets the functions in [start, end), where the code has changed. */
void function_starts_forget(struct function_starts *e, uint64_t start, uint64_t end);

/* The start of the function that @address lies in, also of a part apart; or FUNCTION_STARTS_NONE.
 */
uint64_t function_starts_find(const struct function_starts *e, uint64_t address);

/* The number of bytes from @start on of the function that begins there, at most
 * FUNCTION_STARTS_MAX_BYTES; 0: none begins there. */
uint32_t function_starts_extent(const struct function_starts *e, uint64_t start);

/* Notes that code at @address ran in the function at @to, as far as is known. */
void function_starts_reach(struct function_starts *e, uint64_t to, uint64_t address);

/* As function_starts_find(), but none if no code of it was seen to run so far behind its start. */
uint64_t function_starts_find_certain(const struct function_starts *e, uint64_t address);

/* Another program replaces the process: only code mapped from now on is valid. Records of other
 * code are of the program before. */
void function_starts_begin_mappings(struct function_starts *e);

/* Code is mapped in [start, end). Beyond FUNCTION_STARTS_MAX_MAPPINGS all mappings are unknown. */
void function_starts_map(struct function_starts *e, uint64_t start, uint64_t end);

/* Whether there is code at @address, as far as is known. */
bool function_starts_has_code(const struct function_starts *e, uint64_t address);

/* A unique number, which changes when anything learnt is forgotten. */
uint64_t function_starts_identity(const struct function_starts *e);

/* A unique number, which changes with every function that comes or goes. */
uint64_t function_starts_version(const struct function_starts *e);

/*
 * The kind of a jump. Code of the function at @jump_target ran while records above it showed calls
 * that were not its own; the last of them entered the function at @from. Either that function has
 * jumped out, and the records are dead; or it has made a tail call. The later course of the stack
 * decides.
 */
enum jump_kind {
	JUMP_UNKNOWN,
	JUMP_OUT,  /* longjmp, an exception */
	JUMP_TAIL, /* a tail call */
};

enum jump_kind function_starts_jump_kind(const struct function_starts *e, uint64_t from,
					 uint64_t jump_target);

/* Whether this pair of functions in particular is known to jump out. */
bool function_starts_jumps_out(const struct function_starts *e, uint64_t from,
			       uint64_t jump_target);

/* Notes the kind of one such jump: JUMP_OUT or JUMP_TAIL. */
void function_starts_note_jump(struct function_starts *e, uint64_t from, uint64_t jump_target,
			       enum jump_kind kind);
