/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is known of a process's code from its calls alone: where functions begin, and which of them are
 * landed in by a jump out of others.
 *
 * An address belongs to the function that begins last before it, of those that were seen called. So
 * nothing is read but the rows themselves, and what they did not show is not known: a function that is
 * only jumped to is taken for a part of the one before it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/macro.h"

#define ENTRIES_NONE         0u
#define ENTRIES_MAX_ENTRIES  16384u /* 384 KiB a process */
#define ENTRIES_CACHE_BITS   16
#define ENTRIES_MAX_MAPPINGS 256u
#define ENTRIES_MAX_FUNCTION 65535u /* bytes; beyond, an address belongs to a function unseen */

struct entries;

/* How far functions reach, of those asked for: the same are asked for again and again. Zeroed it is empty. */
struct entries_cache {
	uint64_t extents[1u << ENTRIES_CACHE_BITS];
};

/* @serial: another for each. The cache outlives it, and may serve many. 0 or -ENOMEM. */
int entries_new(struct entries **ret, int32_t pid, uint32_t serial, struct entries_cache *cache);
struct entries *entries_free(struct entries *e);
DEFINE_CLEANUP(struct entries *, entries_free);

int32_t entries_pid(const struct entries *e);

/* Tasks that execute it; who counts is the caller. */
unsigned int *entries_users(struct entries *e);

/* The function at @to was called by the call at @from. 0 or -ENOMEM. */
int entries_learn(struct entries *e, uint64_t from, uint64_t to);

/* Whether it was never seen called by another. */
bool entries_has_one_caller(const struct entries *e, uint64_t to);

/* Forgets the functions in [start, end): other code is there now. */
void entries_forget(struct entries *e, uint64_t start, uint64_t end);

/* The start of the function that @address lies in, or ENTRIES_NONE. */
uint64_t entries_function(const struct entries *e, uint64_t address);

/* How many bytes from @start on are of the function that begins there, at most ENTRIES_MAX_FUNCTION; 0: none does. */
uint32_t entries_extent(const struct entries *e, uint64_t start);

/* Code at @address ran in the function at @to, as far as is known. */
void entries_reach(struct entries *e, uint64_t to, uint64_t address);

/* As entries_function(), but none if no code so far behind its start was seen to run in it. */
uint64_t entries_surely(const struct entries *e, uint64_t address);

/*
 * The program was replaced by another: what code is mapped from now on is all that there is. Rows of code
 * that is not are of the program before.
 */
void entries_begin_mappings(struct entries *e);

/* Code is mapped in [start, end). Of too many mappings none is known. */
void entries_map(struct entries *e, uint64_t start, uint64_t end);

/* Whether there is code, as far as is known. */
bool entries_has_code(const struct entries *e, uint64_t address);

/* A number of no other, that changes when anything that was learnt is forgotten. */
uint64_t entries_identity(const struct entries *e);

/* The same, that changes with every function that comes or goes. */
uint64_t entries_version(const struct entries *e);

/*
 * Code of the function at @landing ran, with rows above its own that were none of its calls: the last
 * of them entered the function at @from. Either @from's function has jumped out to it, and those rows
 * are dead; or it has called it by a jump. What did the stack do in the end?
 */
enum entries_jump {
	ENTRIES_JUMP_UNKNOWN,
	ENTRIES_JUMP_OUT,  /* longjmp, an exception */
	ENTRIES_JUMP_TAIL, /* a tail call */
};

enum entries_jump entries_jump_kind(const struct entries *e, uint64_t from, uint64_t landing);

/* Whether these two in particular are known to. */
bool entries_jumps_out(const struct entries *e, uint64_t from, uint64_t landing);

/* What was learnt of one such jump: ENTRIES_JUMP_OUT or ENTRIES_JUMP_TAIL. */
void entries_note_jump(struct entries *e, uint64_t from, uint64_t landing, enum entries_jump kind);
