/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lbr: the last branch records of one task, after Intel's (SDM volume 3, "Last Branch, Interrupt,
 * and Exception Recording", and the kernel's arch/x86/events/intel/lbr.c).
 *
 * N registers and TOS, the number of the newest. In branch mode every taken branch advances TOS and
 * overwrites. In stack mode a call advances and writes, a return clears the newest register and
 * steps TOS back, also where nothing is left to clear; calls of the very next instruction are not
 * recorded. Reading goes from TOS backwards: in stack mode it stops at the first register whose
 * `from` is 0, in branch mode such registers are skipped (the software filter of a user-only event
 * drops them). A reset clears the registers and leaves TOS.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LBR_RECORDS_MAX 64

struct lbr_record {
	uint64_t from;
	uint64_t to;
	/* For the truth only, no part of the hardware: the image of the process that executed it,
	 * and its number among the calls of its task, as in struct shadow_entry. */
	uint64_t image;
	uint64_t serial;
	uint16_t cycles;
	bool mispredicted;
	bool broken; /* something else than straight execution lies before it, e.g. a signal */
};

struct lbr {
	unsigned n_records;
	unsigned tos;
	bool is_stack;
	struct lbr_record records[LBR_RECORDS_MAX];
};

void lbr_init(struct lbr *lbr, unsigned n_records, bool is_stack);
void lbr_reset(struct lbr *lbr);
void lbr_push(struct lbr *lbr, const struct lbr_record *record);
void lbr_pop(struct lbr *lbr);
/* Copies the records, newest first, to `records` (room for LBR_RECORDS_MAX), and returns their
 * number. */
size_t lbr_read(const struct lbr *lbr, struct lbr_record *records);
