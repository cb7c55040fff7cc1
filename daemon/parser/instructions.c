/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/parser/instructions.h"

#include <errno.h>
#include <stdlib.h>

#include <string.h>

#include "common/elf/disassembler.h"
#include "common/util/array.h"

struct instructions {
	struct disassembler *disassembler;
	uint32_t *starts;
	struct message_instruction *rows;
	size_t n, cap;
	struct message_text text;
};

static int add(struct instructions *all, const struct instruction *instruction)
{
	struct message_instruction *m;
	int r = ARRAY_RESERVE(&all->rows, &all->cap, all->n + 1);

	if (r < 0)
		return r;
	m = &all->rows[all->n];
	*m = (struct message_instruction){
		.target = instruction->target,
		.size = (uint8_t)instruction->size,
		.kind = (uint8_t)instruction->kind,
		.has_target = instruction->has_target,
		.is_data = instruction->is_data,
	};
	memcpy(m->fixed, instruction->fixed, sizeof(m->fixed));
	r = message_text_add(&all->text, instruction->text, &m->text);
	all->n += m->text != MESSAGE_NO_TEXT;
	return r;
}

static int add_piece(struct instructions *all, const struct message_piece *piece,
		     const uint8_t *code)
{
	struct instruction instruction;
	size_t at = 0;
	int r = 0;

	for (uint32_t i = 0; i < piece->max && all->n < MESSAGE_INSTRUCTIONS && !r; i++) {
		if (!disassembler_decode(all->disassembler, code + at, piece->n - at,
					 piece->address + at, &instruction))
			break;
		r = add(all, &instruction);
		at += instruction.size;
	}
	return r;
}

static int add_pieces(struct instructions *all, const struct message_disassemble *request,
		      const struct message_piece *pieces, const uint8_t *code, size_t n_code)
{
	for (size_t i = 0; i < request->n_pieces; i++) {
		int r;

		if (pieces[i].n > n_code)
			return -EINVAL;
		all->starts[i] = (uint32_t)all->n;
		r = add_piece(all, &pieces[i], code);
		if (r < 0)
			return r;
		code += pieces[i].n;
		n_code -= pieces[i].n;
	}
	all->starts[request->n_pieces] = (uint32_t)all->n;
	return 0;
}

int instructions_write(const struct message_disassemble *request,
		       const struct message_piece *pieces, const uint8_t *code, size_t n_code,
		       struct message_writer *answer)
{
	struct message_rows m = {};
	struct instructions all = {};
	int r;

	r = ARRAY_ALLOCATE(&all.starts, (size_t)request->n_pieces + 1);
	if (!r)
		r = disassembler_new(&all.disassembler, request->machine);
	if (!r && request->att)
		r = disassembler_set_att(all.disassembler);
	if (!r) {
		disassembler_set_absolute(all.disassembler, request->low, request->high);
		r = add_pieces(&all, request, pieces, code, n_code);
	}
	if (!r) {
		m = (struct message_rows){ (uint32_t)all.n, (uint32_t)all.text.n };
		message_write(answer, &m, sizeof(m));
		message_write(answer, all.starts,
			      ((size_t)request->n_pieces + 1) * sizeof(*all.starts));
		message_write(answer, all.rows, all.n * sizeof(*all.rows));
		message_write(answer, all.text.text, all.text.n);
	}
	disassembler_free(all.disassembler);
	free(all.starts);
	free(all.rows);
	free(all.text.text);
	return r;
}
