/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lbr: the last branch records of one task. The model is described in lbr.h. */
#include "tests/simulator/lbr.h"

#include <string.h>

void lbr_init(struct lbr *lbr, unsigned n_records, bool is_stack)
{
	*lbr = (struct lbr){ .n_records = n_records, .is_stack = is_stack };
}

void lbr_reset(struct lbr *lbr)
{
	memset(lbr->records, 0, sizeof(lbr->records));
}

void lbr_push(struct lbr *lbr, const struct lbr_record *record)
{
	lbr->tos = (lbr->tos + 1) % lbr->n_records;
	lbr->records[lbr->tos] = *record;
}

void lbr_pop(struct lbr *lbr)
{
	lbr->records[lbr->tos] = (struct lbr_record){ 0 };
	lbr->tos = (lbr->tos + lbr->n_records - 1) % lbr->n_records;
}

size_t lbr_read(const struct lbr *lbr, struct lbr_record *records)
{
	const struct lbr_record *record;
	size_t n = 0;
	unsigned i;

	for (i = 0; i < lbr->n_records; i++) {
		record = &lbr->records[(lbr->tos + lbr->n_records - i) % lbr->n_records];
		if (record->from)
			records[n++] = *record;
		else if (lbr->is_stack)
			break;
	}
	return n;
}
