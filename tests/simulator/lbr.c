/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lbr: the last branch records of one task. The model is described in lbr.h. */
#include "tests/simulator/lbr.h"

#include <string.h>

void lbr_init(struct lbr *lbr, unsigned n_rows, bool is_stack)
{
	*lbr = (struct lbr){ .n_rows = n_rows, .is_stack = is_stack };
}

void lbr_reset(struct lbr *lbr)
{
	memset(lbr->rows, 0, sizeof(lbr->rows));
}

void lbr_push(struct lbr *lbr, const struct lbr_row *row)
{
	lbr->tos = (lbr->tos + 1) % lbr->n_rows;
	lbr->rows[lbr->tos] = *row;
}

void lbr_pop(struct lbr *lbr)
{
	lbr->rows[lbr->tos] = (struct lbr_row){ 0 };
	lbr->tos = (lbr->tos + lbr->n_rows - 1) % lbr->n_rows;
}

size_t lbr_read(const struct lbr *lbr, struct lbr_row *rows)
{
	const struct lbr_row *row;
	size_t n = 0;
	unsigned i;

	for (i = 0; i < lbr->n_rows; i++) {
		row = &lbr->rows[(lbr->tos + lbr->n_rows - i) % lbr->n_rows];
		if (row->from)
			rows[n++] = *row;
		else if (lbr->is_stack)
			break;
	}
	return n;
}
