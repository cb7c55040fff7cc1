/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory of code that was thrown away is used again, so a later line holds for the addresses that
 * it shares with earlier ones. The lines are sorted by start and swept once: at each address the
 * newest of the lines around it has its say. A heap has these lines, the newest on top; the ones
 * that have ended leave it when they come to the top.
 */
#include "common/elf/jit-symbols.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"
#include "common/util/printable.h"

#define MAX_NAME   ((size_t)4096)
#define MAX_DIGITS 16

struct line {
	uint64_t start, end;
	const char *name;
	uint32_t age; /* 0: the newest */
};

struct lines_read {
	struct line *rows;
	size_t n, cap;
	uint64_t n_malformed;
};

/* Some of the lines, as indexes; the newest is the first. */
struct heap {
	const struct line *lines;
	uint32_t *rows;
	size_t n;
};

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 'a' ^ 'A';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads a number and the blank after it; the text ends with a NUL. */
static bool read_number(const char **at, uint64_t *ret)
{
	const char *p = *at;
	int n = 0;

	if (p[0] == '0' && (p[1] | ('a' ^ 'A')) == 'x')
		p += 2;
	for (*ret = 0; digit(*p) >= 0; n++)
		*ret = *ret << 4 | (uint64_t)digit(*p++);
	if (n == 0 || n > MAX_DIGITS || (*p != ' ' && *p != '\t'))
		return false;
	*at = p + 1;
	return true;
}

/* Parses @text, which ends with a NUL, into @ret but for its age. */
static bool parse_line(const char *text, struct line *ret)
{
	uint64_t size;

	if (!read_number(&text, &ret->start) || !read_number(&text, &size))
		return false;
	ret->name = text;
	ret->end = ret->start + size;
	return *text != '\0' && ret->end > ret->start;
}

/*
 * From the last line to the first. What follows the last newline may be half a line. @whole: the
 * text has the file's first line.
 */
static int read_lines(char *text, size_t n, bool whole, struct lines_read *ret)
{
	char *end = n > 0 ? memrchr(text, '\n', n) : NULL;

	while (end && ret->n < JIT_SYMBOLS_MAX) {
		char *before = end > text ? memrchr(text, '\n', (size_t)(end - text)) : NULL;
		struct line line = { .age = (uint32_t)ret->n };

		if (!before && !whole)
			break;
		*end = '\0';
		if (!parse_line(before ? before + 1 : text, &line)) {
			ret->n_malformed++;
		} else {
			if (ARRAY_RESERVE(&ret->rows, &ret->cap, ret->n + 1) < 0)
				return -ENOMEM;
			ret->rows[ret->n++] = line;
		}
		end = before;
	}
	return 0;
}

static int compare_starts(const void *p, const void *q)
{
	const struct line *a = p, *b = q;

	RETURN_UNLESS_EQUAL(COMPARE(a->start, b->start));
	return COMPARE(a->age, b->age);
}

static bool is_newer(const struct heap *heap, size_t a, size_t b)
{
	return heap->lines[heap->rows[a]].age < heap->lines[heap->rows[b]].age;
}

static void swap(struct heap *heap, size_t a, size_t b)
{
	uint32_t row = heap->rows[a];

	heap->rows[a] = heap->rows[b];
	heap->rows[b] = row;
}

static void push(struct heap *heap, uint32_t line)
{
	size_t i = heap->n++;

	heap->rows[i] = line;
	for (; i > 0 && is_newer(heap, i, (i - 1) / 2); i = (i - 1) / 2)
		swap(heap, i, (i - 1) / 2);
}

static void pop(struct heap *heap)
{
	size_t i = 0, child;

	heap->rows[0] = heap->rows[--heap->n];
	while ((child = 2 * i + 1) < heap->n) {
		child += child + 1 < heap->n && is_newer(heap, child + 1, child);
		if (!is_newer(heap, child, i))
			break;
		swap(heap, i, child);
		i = child;
	}
}

/* What one line says about addresses in a row. */
struct piece {
	const struct line *line; /* NULL: none yet */
	uint64_t start, end;
};

static int add_piece(struct symbol_table *table, const struct piece *piece)
{
	const struct symbol_entry entry = {
		.start = piece->start,
		.size = piece->end - piece->start,
		.limit = piece->end,
		.name = piece->line ? piece->line->name : NULL,
		.binding = SYMBOL_GLOBAL,
	};

	return piece->line ? symbol_table_add(table, &entry) : 0;
}

/* @lines are sorted by start. */
static int sweep(const struct line *lines, size_t n, struct heap *heap, struct symbol_table *table)
{
	struct piece piece = {};
	uint64_t at = 0;
	size_t i = 0;
	int r = 0;

	while (r >= 0 && (i < n || heap->n > 0)) {
		const struct line *top;
		uint64_t end;

		if (heap->n == 0)
			at = lines[i].start;
		while (i < n && lines[i].start <= at)
			push(heap, (uint32_t)i++);
		top = &lines[heap->rows[0]];
		if (top->end <= at) {
			pop(heap);
			continue;
		}
		end = i < n ? MIN(top->end, lines[i].start) : top->end;
		if (piece.line != top || piece.end != at) {
			r = add_piece(table, &piece);
			piece = (struct piece){ .line = top, .start = at };
		}
		piece.end = at = end;
	}
	return r < 0 ? r : add_piece(table, &piece);
}

static int copy_name(char **ret, const char *name, size_t n, const char *suffix)
{
	*ret = strndup(name, MIN(n, MAX_NAME));
	if (!*ret)
		return -ENOMEM;
	printable_make(*ret);
	return 0;
}

static int make_table(struct lines_read *lines, struct symbol_table *table)
{
	_cleanup_free_ uint32_t *rows = NULL;
	struct heap heap = { .lines = lines->rows };

	if (lines->n == 0)
		return 0;
	rows = calloc(lines->n, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	heap.rows = rows;
	qsort(lines->rows, lines->n, sizeof(*lines->rows), compare_starts);
	return sweep(lines->rows, lines->n, &heap, table);
}

/* Takes @text. @whole: as of read_lines(). */
static int read_text(struct symbol_table **ret, char *text, size_t n, bool whole,
		     uint64_t *ret_malformed)
{
	_cleanup_(symbol_table_freep) struct symbol_table *table = NULL;
	struct lines_read lines = {};
	int r = symbol_table_new(&table);

	if (r < 0) {
		free(text);
		return r;
	}
	symbol_table_set_demangler(table, copy_name);
	r = symbol_table_take_names(table, text, n);
	if (r >= 0)
		r = read_lines(text, n, whole, &lines);
	if (r >= 0)
		r = make_table(&lines, table);
	free(lines.rows);
	if (r >= 0)
		r = symbol_table_finalize(table);
	if (r >= 0)
		r = symbol_table_pack(table);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(table);
	*ret_malformed = lines.n_malformed;
	return 0;
}

int jit_symbols_read(struct symbol_table **ret, char *text, size_t n, uint64_t *ret_malformed)
{
	return read_text(ret, text, n, true, ret_malformed);
}

/* The bytes from @offset on, at most @n: how many there are, or -errno. */
static ssize_t read_bytes(int fd, off_t offset, char *ret, size_t n)
{
	size_t done = 0;

	while (done < n) {
		ssize_t k = pread(fd, ret + done, n - done, offset + (off_t)done);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		if (k == 0)
			break;
		done += (size_t)k;
	}
	return (ssize_t)done;
}

static int open_file(struct elf_file **ret, int fd, uint64_t *ret_malformed)
{
	_cleanup_(elf_file_freep) struct elf_file *file = calloc(1, sizeof(*file));
	_cleanup_free_ char *text = NULL;
	struct stat st;
	off_t skipped;
	ssize_t n;
	int r;

	if (!file)
		return -ENOMEM;
	if (fstat(fd, &st) < 0)
		return -errno;
	skipped = MAX(st.st_size - (off_t)JIT_SYMBOLS_MAX_BYTES, (off_t)0);
	text = malloc((size_t)(st.st_size - skipped) + 1);
	if (!text)
		return -ENOMEM;
	n = read_bytes(fd, skipped, text, (size_t)(st.st_size - skipped));
	if (n < 0)
		return (int)n;
	r = read_text(&file->symbols, TAKE_PTR(text), (size_t)n, skipped == 0, ret_malformed);
	if (r >= 0)
		*ret = TAKE_PTR(file);
	return r;
}

int jit_symbols_open(struct elf_file **ret, int fd, uint64_t *ret_malformed)
{
	_cleanup_close_ int taken = fd;

	return open_file(ret, taken, ret_malformed);
}
