/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <libsmartcols.h>

#include "client/term/elide.h"
#include "common/util/cleanup.h"

#define TABLE_MAX_COLUMNS 16
#define MIN_WIDTH         8
#define FAIR_WIDTH        18 /* of a readable name, */
#define FAIR_YIELD        10 /* and of one that yields to others */
#define READABLE          10 /* less of a name says nothing */
#define NARROW            100

struct column {
	unsigned int flags;
	size_t width; /* of its widest cell */
	size_t least; /* it may be shortened to that */
	const char *group;
	bool left_out;
};

struct table {
	struct libscols_table *scols;
	struct column columns[TABLE_MAX_COLUMNS];
	size_t n_columns;
	size_t width;               /* of the terminal, or 0 */
	struct libscols_line *line; /* the last row */
	const char *group;          /* of the next column */
	FILE *f;
};

int table_new(struct table **ret, FILE *f, size_t width, bool colors)
{
	_cleanup_(table_freep) struct table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	table->scols = scols_new_table();
	if (!table->scols)
		return -ENOMEM;
	table->width = width;
	table->f = f;
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

size_t table_width(const struct table *table)
{
	return table->width;
}

bool table_is_narrow(const struct table *table)
{
	return table->width > 0 && table->width < NARROW;
}

int table_add_column(struct table *table, const char *name, unsigned int flags)
{
	int scols_flags = flags & TABLE_RIGHT ? SCOLS_FL_RIGHT : 0;

	if (flags & (TABLE_ELIDE_NAME | TABLE_ELIDE_PATH))
		scols_flags |= SCOLS_FL_TRUNC;
	if (table->n_columns == TABLE_MAX_COLUMNS ||
	    !scols_table_new_column(table->scols, name, 0, scols_flags))
		return -ENOMEM;
	table->columns[table->n_columns++] = (struct column){
		.flags = flags,
		.width = strlen(name),
		.least = MIN_WIDTH,
		.group = table->group,
	};
	return 0;
}

void table_begin_group(struct table *table, const char *name)
{
	table->group = name;
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

int table_dim_row(struct table *table)
{
	return scols_line_set_color(table->line, "halfbright");
}

static struct libscols_cell *find_cell(struct table *table, size_t row, size_t column)
{
	return scols_line_get_cell(scols_table_get_line(table->scols, row), column);
}

/* Of what may be shortened the bytes count, as elide.h has them. */
static size_t width_of(const struct column *column, const char *text)
{
	size_t n = 0;

	if (column->flags & (TABLE_ELIDE_NAME | TABLE_ELIDE_PATH))
		return strlen(text);
	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static void measure_cell(struct column *column, const char *text)
{
	column->width = MAX(column->width, width_of(column, text));
	if (column->flags & TABLE_ELIDE_NAME)
		column->least = MAX(column->least, elide_name_least(text));
}

static void measure(struct table *table)
{
	size_t n_rows = scols_table_get_nlines(table->scols);

	for (size_t i = 0; i < n_rows; i++)
		for (size_t k = 0; k < table->n_columns; k++) {
			const char *text = scols_cell_get_data(find_cell(table, i, k));

			if (text)
				measure_cell(&table->columns[k], text);
		}
}

static bool may_shrink(const struct column *column)
{
	return column->flags & (TABLE_ELIDE_NAME | TABLE_ELIDE_PATH);
}

/* One that yields counts as this much wider than it is. */
static size_t rank_width(const struct column *column)
{
	return column->width + (column->flags & TABLE_YIELD ? FAIR_WIDTH - FAIR_YIELD : 0);
}

/* The columns as they are, names as short as they may be, and the blanks between. */
static size_t least_width(const struct table *table)
{
	size_t sum = 0;

	for (size_t i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];
		size_t least = MAX(column->least, (size_t)READABLE);

		if (!column->left_out)
			sum += 1 + (may_shrink(column) ? MIN(column->width, least) : column->width);
	}
	return sum - 1;
}

/* Of the columns that have TABLE_SPARE and @yield of TABLE_YIELD. */
static int leave_out(struct table *table, unsigned int yield)
{
	int r = 0;

	for (size_t i = table->n_columns; r >= 0 && i-- > 0;) {
		struct column *column = &table->columns[i];
		struct libscols_column *its = scols_table_get_column(table->scols, i);

		if (least_width(table) <= table->width)
			return 0;
		if (!(column->flags & TABLE_SPARE) || (column->flags & TABLE_YIELD) != yield)
			continue;
		column->left_out = true;
		r = scols_column_set_flags(its, scols_column_get_flags(its) | SCOLS_FL_HIDDEN);
	}
	return r;
}

/*
 * Shrinks the widest column that may shrink until all fit. So narrow columns keep their width, and
 * wide ones become equally wide.
 */
static void share_out_width(struct table *table)
{
	size_t sum = 0;

	for (size_t i = 0; i < table->n_columns; i++)
		if (!table->columns[i].left_out)
			sum += table->columns[i].width + (sum > 0 ? 1 : 0);
	for (; sum > table->width; sum--) {
		struct column *widest = NULL;

		for (size_t i = 0; i < table->n_columns; i++) {
			struct column *column = &table->columns[i];

			if (may_shrink(column) && !column->left_out &&
			    column->width > column->least &&
			    (!widest || rank_width(column) >= rank_width(widest)))
				widest = column;
		}
		if (!widest)
			return;
		widest->width--;
	}
}

static int fit_cell(const struct column *column, struct libscols_cell *cell)
{
	const char *text = scols_cell_get_data(cell);
	char *fitting;

	if (!text || strlen(text) <= column->width)
		return 0;
	fitting = column->flags & TABLE_ELIDE_NAME ? elide_name(text, column->width) :
						     elide_path(text, column->width);
	return fitting ? scols_cell_refer_data(cell, fitting) : -ENOMEM;
}

static int fit(struct table *table)
{
	size_t n_rows = scols_table_get_nlines(table->scols);
	int r;

	measure(table);
	r = leave_out(table, 0);
	if (r >= 0)
		r = leave_out(table, TABLE_YIELD);
	share_out_width(table);
	for (size_t i = 0; r >= 0 && i < n_rows; i++)
		for (size_t k = 0; r >= 0 && k < table->n_columns; k++)
			if (may_shrink(&table->columns[k]))
				r = fit_cell(&table->columns[k], find_cell(table, i, k));
	return r;
}

bool table_fits(struct table *table)
{
	size_t sum = table->n_columns - 1;

	if (table->width == 0)
		return true;
	measure(table);
	for (size_t i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];

		size_t fair = column->flags & TABLE_YIELD ? FAIR_YIELD : FAIR_WIDTH;

		fair = MAX(column->least, fair);
		sum += may_shrink(column) ? MIN(column->width, fair) : column->width;
	}
	return sum <= table->width;
}

static void write_dashes(FILE *f, size_t n)
{
	while (n-- > 0)
		fputc('-', f);
}

/* "--- NAME ---", or only the name where there is no more room. */
static void write_group(FILE *f, const char *name, size_t width, bool is_last)
{
	size_t length = strlen(name), n_dashes = width > length + 2 ? width - length - 2 : 0;

	if (n_dashes < 2) {
		fprintf(f, "%-*.*s", is_last ? 0 : (int)width, (int)width, name);
		return;
	}
	write_dashes(f, n_dashes / 2);
	fprintf(f, " %s ", name);
	write_dashes(f, n_dashes - n_dashes / 2);
}

static void write_groups(struct table *table)
{
	const struct column *columns = table->columns;

	if (columns[0].group && table->width == 0)
		measure(table);
	for (size_t i = 0, next; i < table->n_columns && columns[i].group; i = next) {
		size_t width = columns[i].width;

		for (next = i + 1; next < table->n_columns; next++) {
			if (columns[next].group != columns[i].group)
				break;
			width += 1 + columns[next].width;
		}
		fputs(i > 0 ? " " : "", table->f);
		write_group(table->f, columns[i].group, width,
			    next == table->n_columns || !columns[next].group);
	}
	fputs(columns[0].group ? "\n" : "", table->f);
}

int table_print(struct table *table)
{
	int r = table->width > 0 ? fit(table) : 0;

	if (r >= 0)
		write_groups(table);
	return r < 0 ? r : scols_print_table(table->scols);
}
