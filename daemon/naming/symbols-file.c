/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/naming/symbols-file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "daemon/kept/kept-header.h"

static const struct kept_format format = { "branchdS", 1 };

struct header {
	struct kept_header head;
	uint32_t n_rows, n_text, unused;
};

_Static_assert(sizeof(struct header) % _Alignof(struct symbol_row) == 0, "the rows follow");

void symbols_content_done(struct symbols_content *content)
{
	free(content->rows);
	free(content->text);
	*content = (struct symbols_content){};
}

int symbols_content_make(struct symbols_content *ret, const struct symbol_table *table)
{
	struct symbols_content made = { .n_rows = symbol_table_count(table) };
	char *at;

	for (size_t i = 0; i < made.n_rows; i++)
		made.n_text += strlen(symbol_table_get(table, i).name) + 1;
	if (made.n_text > UINT32_MAX)
		return -EFBIG;
	made.rows = calloc(made.n_rows ?: 1, sizeof(*made.rows));
	made.text = at = malloc(made.n_text ?: 1);
	if (!made.rows || !made.text) {
		symbols_content_done(&made);
		return -ENOMEM;
	}
	for (size_t i = 0; i < made.n_rows; i++) {
		const struct symbol_entry e = symbol_table_get(table, i);

		made.rows[i] = (struct symbol_row){ e.start, (uint32_t)e.size,
						    (uint32_t)(at - made.text) };
		at = stpcpy(at, e.name) + 1;
	}
	*ret = made;
	return 0;
}

size_t symbols_file_bytes(const struct symbols_content *content)
{
	return sizeof(struct header) + content->n_rows * sizeof(*content->rows) + content->n_text;
}

int symbols_file_write(int fd, const struct build_id *id, const struct symbols_content *content)
{
	struct header header = {
		.n_rows = (uint32_t)content->n_rows,
		.n_text = (uint32_t)content->n_text,
	};
	const struct iovec parts[] = {
		{ &header, sizeof(header) },
		{ content->rows, content->n_rows * sizeof(*content->rows) },
		{ content->text, content->n_text },
	};

	kept_header_fill(&header.head, &format, id);
	return kept_header_write(fd, parts, ARRAY_SIZE(parts));
}

/* The rows and names of a file; false if they are not as many bytes as it has. */
static bool find_content(const struct header *header, size_t n, struct symbols_content *ret)
{
	*ret = (struct symbols_content){ .n_rows = header->n_rows, .n_text = header->n_text };
	if (symbols_file_bytes(ret) != n)
		return false;
	ret->rows = (struct symbol_row *)(header + 1);
	ret->text = (char *)(ret->rows + ret->n_rows);
	return ret->n_text == 0 || ret->text[ret->n_text - 1] == '\0';
}

/* As they were written: by their start, which differs. */
static bool are_sound(const struct symbols_content *content)
{
	for (size_t i = 0; i < content->n_rows; i++) {
		const struct symbol_row *row = &content->rows[i];

		if (row->name >= content->n_text || row->size == 0 ||
		    row->start > UINT64_MAX - row->size ||
		    (i > 0 && row->start <= content->rows[i - 1].start))
			return false;
	}
	return true;
}

static int make_table(const struct symbols_content *content, struct symbol_table **ret)
{
	_cleanup_(symbol_table_freep) struct symbol_table *table = NULL;
	char *text = malloc(content->n_text ?: 1);
	int r = text ? symbol_table_new(&table) : -ENOMEM;

	if (r < 0) {
		free(text);
		return r;
	}
	memcpy(text, content->text, content->n_text);
	r = symbol_table_fill(table, content->rows, content->n_rows, text, content->n_text);
	if (r >= 0)
		*ret = TAKE_PTR(table);
	return r;
}

int symbols_file_parse(const void *bytes, size_t n, const struct build_id *id,
		       struct symbol_table **ret)
{
	struct symbols_content content;
	int r;

	if (n < sizeof(struct header) || n > SYMBOLS_FILE_MAX_BYTES)
		return -EBADMSG;
	r = kept_header_check(bytes, n, &format, id);
	if (r < 0)
		return r;
	if (!find_content(bytes, n, &content) || !are_sound(&content))
		return -EBADMSG;
	return make_table(&content, ret);
}
