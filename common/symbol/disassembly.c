/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/symbol/disassembly.h"

#include <errno.h>
#include <stdlib.h>

#include "common/elf/disassembler.h"
#include "common/util/array.h"
#include "common/util/strings.h"

void disassembly_done(struct disassembly *disassembly)
{
	free(disassembly->rows);
	*disassembly = (struct disassembly){};
}

static int add_row(struct disassembly *d, const struct instruction *instruction,
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

int disassembly_decode(struct disassembly *ret, struct disassembler *disassembler,
		       const struct disassembly_code *code)
{
	struct instruction instruction;
	size_t at = 0;
	int r = 0;

	disassembler_set_absolute(disassembler, code->low, code->high);
	while (r >= 0 && disassembler_decode(disassembler, code->bytes + at, code->n - at,
					     code->address + at, &instruction)) {
		r = add_row(ret, &instruction, code->texts);
		at += instruction.size;
	}
	return r;
}
