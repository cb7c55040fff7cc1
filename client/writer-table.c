/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/writer-table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include <libsmartcols.h>

#include "common/util/cleanup.h"

struct table {
	struct libscols_table *scols;
	struct libscols_line *line; /* the last one */
};

int table_new(struct table **ret, FILE *f, size_t width, bool colors)
{
	_cleanup_(table_freep) struct table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	table->scols = scols_new_table();
	if (!table->scols)
		return -ENOMEM;
	scols_table_set_stream(table->scols, f);
	scols_table_enable_colors(table->scols, colors);
	scols_table_set_termforce(table->scols,
				  width > 0 ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER);
	if (width > 0)
		scols_table_set_termwidth(table->scols, width);
	*ret = TAKE_PTR(table);
	return 0;
}

struct table *table_free(struct table *table)
{
	if (!table)
		return NULL;
	scols_unref_table(table->scols);
	free(table);
	return NULL;
}

int table_add_column(struct table *table, const char *name, unsigned int flags)
{
	int scols_flags = 0;

	if (flags & TABLE_RIGHT)
		scols_flags |= SCOLS_FL_RIGHT;
	if (flags & TABLE_SHORTEN)
		scols_flags |= SCOLS_FL_TRUNC;
	return scols_table_new_column(table->scols, name, 0, scols_flags) ? 0 : -ENOMEM;
}

int table_add_row(struct table *table)
{
	table->line = scols_table_new_line(table->scols, NULL);
	return table->line ? 0 : -ENOMEM;
}

int table_set(struct table *table, size_t column, const char *text)
{
	return scols_line_set_data(table->line, column, text);
}

int table_printf(struct table *table, size_t column, const char *format, ...)
{
	char *text;
	va_list ap;
	int r;

	va_start(ap, format);
	r = vasprintf(&text, format, ap);
	va_end(ap);
	if (r < 0)
		return -ENOMEM;
	r = scols_line_refer_data(table->line, column, text);
	if (r < 0)
		free(text);
	return r;
}

int table_set_color(struct table *table, size_t column, const char *color)
{
	struct libscols_cell *cell = scols_line_get_cell(table->line, column);

	return cell ? scols_cell_set_color(cell, color) : -EINVAL;
}

int table_print(struct table *table)
{
	return scols_print_table(table->scols);
}
