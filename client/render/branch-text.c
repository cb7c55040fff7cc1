/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/branch-text.h"

#include <inttypes.h>

#include "common/profile/branch-kind.h"

#define IN_TRANSACTION (1ull << 2)

static const char *const kind_names[N_BRANCH_KINDS] = {
	[BRANCH_UNKNOWN] = "",          [BRANCH_COND] = "COND",
	[BRANCH_JMP] = "UNCOND",        [BRANCH_IND_JMP] = "IND",
	[BRANCH_CALL] = "CALL",         [BRANCH_IND_CALL] = "IND_CALL",
	[BRANCH_RET] = "RET",           [BRANCH_SYSCALL] = "SYSCALL",
	[BRANCH_SYSRET] = "SYSRET",     [BRANCH_COND_CALL] = "COND_CALL",
	[BRANCH_COND_RET] = "COND_RET", [BRANCH_ERET] = "ERET",
	[BRANCH_IRQ] = "IRQ",           [BRANCH_SERROR] = "SERROR",
	[BRANCH_NO_TX] = "NO_TX",       [BRANCH_FAULT] = "",
};

/* Of old processors neither is known. */
static char prediction(const struct branch_record *row)
{
	if (row->flags & BRANCH_RECORD_PREDICTED)
		return 'P';
	return row->flags & BRANCH_RECORD_MISPREDICTED ? 'M' : '-';
}

void branch_text_write_flags(const struct branch_record *row, FILE *f)
{
	fprintf(f, "/%c/%c/%c/%" PRIu64 "/%s ", prediction(row),
		row->flags & IN_TRANSACTION ? 'X' : '-',
		row->flags & BRANCH_RECORD_ABORT ? 'A' : '-', branch_record_cycles(row),
		kind_names[branch_record_kind(row->flags)]);
}
