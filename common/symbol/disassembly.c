/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/symbol/disassembly.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/array.h"
#include "common/util/strings.h"

void disassembly_done(struct disassembly *disassembly)
{
	free(disassembly->rows);
	*disassembly = (struct disassembly){};
}

int disassembly_add(struct disassembly *d, const struct instruction *instruction,
		    struct strings *texts)
{
	struct instruction *row;

	if (ARRAY_RESERVE(&d->rows, &d->cap, d->n + 1) < 0)
		return -ENOMEM;
	row = &d->rows[d->n];
	*row = *instruction;
	row->text = texts ? strings_intern(texts, instruction->text) : NULL;
	if (texts && !row->text)
		return -ENOMEM;
	d->n++;
	return 0;
}
