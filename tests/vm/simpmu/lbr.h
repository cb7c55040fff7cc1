/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * A processor's branch record registers, as the emulator and the guest's kernel both see them:
 * memory that they share, one struct for each CPU.
 *
 * Both sides of a CPU run in one thread of the emulator, by turns, so that nothing is locked. The
 * kernel chooses what is recorded and wipes; the emulator records. What a branch does to the
 * registers stands here once, for a branch whose target is not reached yet is completed by
 * whichever side comes to know the target first.
 */
#pragma once

#define LBR_MAX_DEPTH 64
#define LBR_MAX_CPUS  16

enum lbr_kind {
	LBR_NONE,
	LBR_COND,
	LBR_JUMP,
	LBR_IND_JUMP,
	LBR_CALL,
	LBR_IND_CALL,
	LBR_RETURN,
};

struct lbr_row {
	unsigned long long from, to, kind; /* 0, 0, 0: empty */
};

struct lbr {
	unsigned long long pending; /* a branch on its way: lbr_depart() says how; 0: none */
	unsigned int kinds;         /* a bit for each kind that is recorded */
	unsigned int is_stack;      /* calls push, returns pop */
	unsigned int depth;         /* registers in use */
	unsigned int newest;        /* the register written last */
	struct lbr_row rows[LBR_MAX_DEPTH];
};

#define LBR_BYTES (1 << 20) /* of the memory: more than LBR_MAX_CPUS need, and a power of two */

#define LBR_FROM_BITS 48
#define LBR_SIZE_BITS 4 /* of the instruction's length */

/* The branch at @from, @size bytes long, as one word: what lbr_depart() takes. */
static inline unsigned long long lbr_branch(unsigned long long from, unsigned int size,
					    enum lbr_kind kind)
{
	return from | (unsigned long long)size << LBR_FROM_BITS |
	       (unsigned long long)kind << (LBR_FROM_BITS + LBR_SIZE_BITS);
}

static inline void lbr_push(struct lbr *lbr, struct lbr_row row)
{
	lbr->newest = (lbr->newest + 1) % lbr->depth;
	lbr->rows[lbr->newest] = row;
}

/* Moves on where there is nothing to pop, too: the index tells the depth of calls, modulo the
 * registers. */
static inline void lbr_pop(struct lbr *lbr)
{
	lbr->rows[lbr->newest] = (struct lbr_row){ 0 };
	lbr->newest = (lbr->newest + lbr->depth - 1) % lbr->depth;
}

static inline void lbr_depart(struct lbr *lbr, unsigned long long branch)
{
	lbr->pending = branch;
}

/*
 * The program is at @at: where the branch on its way has led, if it was taken. One that led to
 * itself may just as well have been interrupted before it was made, and is not recorded.
 */
static inline void lbr_arrive(struct lbr *lbr, unsigned long long at)
{
	const unsigned long long from = lbr->pending & ((1ull << LBR_FROM_BITS) - 1);
	const unsigned int size = lbr->pending >> LBR_FROM_BITS & ((1 << LBR_SIZE_BITS) - 1);
	const unsigned int kind = lbr->pending >> (LBR_FROM_BITS + LBR_SIZE_BITS);

	if (!lbr->pending)
		return;
	lbr->pending = 0;
	if (!(lbr->kinds & 1u << kind) || at == from)
		return;
	if (kind == LBR_COND && at == from + size)
		return;
	if (lbr->is_stack && kind == LBR_RETURN)
		lbr_pop(lbr);
	else
		lbr_push(lbr, (struct lbr_row){ from, at, kind });
}

/* As the kernel does it: empties the registers, and leaves the index of the newest as it is. */
static inline void lbr_wipe(struct lbr *lbr)
{
	lbr->pending = 0;
	for (unsigned int i = 0; i < LBR_MAX_DEPTH; i++)
		lbr->rows[i] = (struct lbr_row){ 0 };
}
