/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/parser/functions.h"

#include <errno.h>
#include <stdlib.h>

#include "common/elf/disassembler.h"
#include "common/elf/fingerprint.h"
#include "common/object/symbol-ranges.h"
#include "common/util/array.h"
#include "daemon/parser/bytes.h"

#define PIECE_BYTES (64u << 10)
#define MAX_BYTES   (1u << 20) /* of a function; the rest counts by its size only */

struct functions {
	struct file *file;
	struct disassembler *disassembler; /* NULL: none, so no fingerprints */
	uint8_t *piece;
	uint64_t n_left, n_code_bytes; /* of code that may be read, that was read */

	struct message_range *ranges;
	size_t n, cap;
	struct message_text text;
	size_t last; /* the function of the range before */
	struct message_range last_range;
};

/* 0 if not all of its code can be read. */
static uint64_t take_fingerprint(struct functions *f, const struct symbol_entry *function)
{
	uint64_t limit = MIN(function->size, (uint64_t)MAX_BYTES), address;
	struct fingerprint fingerprint;
	size_t n;

	if (!loads_address(&f->file->elf->loads, function->start, &address))
		return 0;
	fingerprint_start(&fingerprint, f->disassembler, function->size, address);
	do {
		n = (size_t)MIN(limit - fingerprint.n_done, (uint64_t)PIECE_BYTES);
		if (bytes_read(f->file->fd, function->start + fingerprint.n_done, f->piece, n) < n)
			return 0;
	} while (fingerprint_add(&fingerprint, f->piece, n) > 0 && fingerprint.n_done < limit);
	return fingerprint_end(&fingerprint);
}

/* Fills in what ranges of one function have in common. */
static int describe(struct functions *f, size_t i, struct message_range *ret)
{
	struct symbol_table *symbols = f->file->elf->symbols;
	const struct symbol_entry e = symbol_table_get(symbols, i);
	const char *name = symbol_table_name(symbols, i);

	if (!name)
		return -ENOMEM;
	*ret = (struct message_range){ .start = e.start, .size = e.size };
	if (f->n_left) {
		ret->fingerprinted = true;
		ret->fingerprint = f->disassembler ? take_fingerprint(f, &e) : 0;
		f->n_left -= MIN(f->n_left, e.size);
		f->n_code_bytes += f->disassembler ? MIN(e.size, (uint64_t)MAX_BYTES) : 0;
	}
	return message_text_add(&f->text, name, &ret->name);
}

static int on_range(uint64_t first, uint64_t last, size_t i, void *userdata)
{
	struct message_range range = { .name = MESSAGE_NO_TEXT };
	struct functions *f = userdata;
	int r = 0;

	if (i != SYMBOL_TABLE_NONE && i == f->last)
		range = f->last_range;
	else if (i != SYMBOL_TABLE_NONE)
		r = describe(f, i, &range);
	if (!r)
		r = ARRAY_RESERVE(&f->ranges, &f->cap, f->n + 1);
	if (r < 0)
		return r;
	f->last = i;
	f->last_range = range;
	range.first = first;
	range.last = last;
	f->ranges[f->n++] = range;
	return 0;
}

/* Without a disassembler for the machine there are no fingerprints. */
static int prepare(struct functions *f)
{
	uint64_t low, high;
	int r;

	if (!f->n_left || !loads_have_code(&f->file->elf->loads))
		return 0;
	f->piece = malloc(PIECE_BYTES);
	if (!f->piece)
		return -ENOMEM;
	r = disassembler_new(&f->disassembler, f->file->machine);
	if (r < 0)
		return r == -EOPNOTSUPP ? 0 : r;
	loads_fixed_range(&f->file->elf->loads, &low, &high);
	disassembler_set_absolute(f->disassembler, low, high);
	return 0;
}

static void write_table(const struct functions *f, struct message_writer *answer)
{
	const struct message_table m = {
		.n_code_bytes = f->n_code_bytes,
		.n_bytes = symbol_table_bytes(f->file->elf->symbols),
		.n_ranges = (uint32_t)f->n,
		.n_text = (uint32_t)f->text.n,
	};

	message_write(answer, &m, sizeof(m));
	message_write(answer, f->ranges, f->n * sizeof(*f->ranges));
	message_write(answer, f->text.text, f->text.n);
}

int functions_write(struct file *file, uint64_t *offsets, size_t n, uint64_t max_code_bytes,
		    struct message_writer *answer)
{
	struct functions f = { .file = file, .n_left = max_code_bytes, .last = SYMBOL_TABLE_NONE };
	int r;

	r = files_read_symbols(file);
	if (!r)
		r = prepare(&f);
	if (!r)
		r = symbol_ranges_for_each(file->elf->symbols, offsets, n, on_range, &f);
	if (!r)
		write_table(&f, answer);
	disassembler_free(f.disassembler);
	free(f.piece);
	free(f.ranges);
	free(f.text.text);
	return r;
}
