/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/parser/source-lines.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/array.h"

#define MAX_FRAMES 128 /* of one place */

struct source_lines {
	struct file *file;
	uint32_t *starts;
	struct message_frame *frames;
	size_t n, cap;
	struct message_text text;
	struct source_frame before[MAX_FRAMES]; /* of the place before */
	size_t n_before;
};

/* Pooled strings that are the same as those of the place before are written once. */
static int add_text(struct source_lines *l, const char *string, const char *before,
		    uint32_t at_before, uint32_t *ret)
{
	if (string == before && string) {
		*ret = at_before;
		return 0;
	}
	return message_text_add(&l->text, string, ret);
}

static int add_frame(struct source_lines *l, const struct source_frame *frame, size_t i,
		     size_t first_before)
{
	static const struct source_frame no_frame;
	const bool known = i < l->n_before;
	const struct source_frame *before = known ? &l->before[i] : &no_frame;
	const struct message_frame at =
		known ? l->frames[first_before + i] : (struct message_frame){};
	struct message_frame *m;
	int r = ARRAY_RESERVE(&l->frames, &l->cap, l->n + 1);

	if (r < 0)
		return r;
	m = &l->frames[l->n++];
	m->line = frame->line;
	r = add_text(l, frame->function, before->function, at.function, &m->function);
	return r < 0 ? r : add_text(l, frame->file, before->file, at.file, &m->file);
}

/* The name that the symbol table has for the function at @offset; NULL if there is none. */
static const char *find_name(struct file *file, uint64_t offset)
{
	size_t i = symbol_table_find(file->elf->symbols, offset);

	return i == SYMBOL_TABLE_NONE ? NULL : symbol_table_name(file->elf->symbols, i);
}

static int add_place(struct source_lines *l, uint64_t offset, size_t max_frames)
{
	struct source_frame frames[MAX_FRAMES];
	size_t first_before = l->n - l->n_before;
	uint64_t address;
	int n = 0;

	if (l->file->lines && l->n <= MESSAGE_FRAMES - MAX_FRAMES &&
	    loads_address(&l->file->elf->loads, offset, &address))
		n = lines_find(l->file->lines, address, find_name(l->file, offset), frames,
			       MIN(max_frames, (size_t)MAX_FRAMES));
	for (int i = 0; i < n; i++) {
		int r = add_frame(l, &frames[i], (size_t)i, first_before);

		if (r < 0)
			return r;
	}
	l->n_before = n > 0 ? (size_t)n : 0;
	for (size_t i = 0; i < l->n_before; i++)
		l->before[i] = frames[i];
	return n < 0 ? n : 0;
}

static void write_rows(const struct source_lines *l, size_t n, struct message_writer *answer)
{
	const struct message_rows m = { .n_rows = (uint32_t)l->n, .n_text = (uint32_t)l->text.n };

	message_write(answer, &m, sizeof(m));
	message_write(answer, l->starts, (n + 1) * sizeof(*l->starts));
	message_write(answer, l->frames, l->n * sizeof(*l->frames));
	message_write(answer, l->text.text, l->text.n);
}

int source_lines_write(struct file *file, const uint64_t *offsets, size_t n, size_t max_frames,
		       struct message_writer *answer)
{
	struct source_lines l = { .file = file };
	int r;

	r = ARRAY_ALLOCATE(&l.starts, n + 1);
	if (!r)
		r = files_read_symbols(file);
	if (!r)
		r = files_seek_lines(file);
	for (size_t i = 0; i < n && !r; i++) {
		l.starts[i] = (uint32_t)l.n;
		r = add_place(&l, offsets[i], max_frames);
	}
	if (!r) {
		l.starts[n] = (uint32_t)l.n;
		write_rows(&l, n, answer);
	}
	free(l.starts);
	free(l.frames);
	free(l.text.text);
	return r;
}
