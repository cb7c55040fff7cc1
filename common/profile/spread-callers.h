/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Callers of samples in functions of which nothing was captured. Each such function has few
 * samples, but together they may be most of a process, and without callers its main() would seem
 * not to have called them.
 *
 * Of the functions with @n samples of which each is captured with probability p, a part of
 * π = 1 - (1 - p)^n has a captured stack (Horvitz and Thompson, 1952). Its n samples stand for n /
 * π, so n (1 - π) / π are those of other functions. They get the callers of its captured stacks,
 * and between them a frame whose function is not known: who called them directly was not seen.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"

/* A captured stack that stands for samples of others. */
struct caller_chain {
	uint32_t stack;
	double n_captured; /* samples that were captured with it */
	double others;     /* for how many samples of other functions it stands */
	double own;        /* how many samples of its function stands each captured one for */
};

/* Of one process: its own code, or the kernel's. */
struct spread_callers {
	struct caller_chain *chains;
	size_t n_chains, cap_chains;
	uint32_t *stacks; /* leaves with samples, but without callers */
	size_t n_stacks, cap_stacks;
};

void spread_callers_done(struct spread_callers *callers);

/* How many samples of others do the @n of a function stand for, each captured with @probability. */
double spread_callers_others(double n, double probability);

/* Both: 0 or -ENOMEM. */
int spread_callers_add_chain(struct spread_callers *callers, const struct caller_chain *chain);
int spread_callers_add_stack(struct spread_callers *callers, uint32_t stack);

/*
 * Moves samples of its stacks, which belong to one process of @profile, below its chains, both in
 * the order in which they were added, and empties @callers. For a chain without callers as many of
 * the last samples stay where they are. The variance of a sample that was captured itself is @unit.
 * 0 or -ENOMEM.
 */
int spread_callers_run(struct spread_callers *callers, struct profile *profile, double unit);
