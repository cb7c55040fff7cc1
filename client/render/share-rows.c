/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/share-rows.h"

#include <inttypes.h>

#include "client/render/share-name.h"
#include "client/render/spark.h"
#include "client/render/table-cells.h"
#include "client/top/share-identity.h"
#include "common/util/percent.h"

#define TREND_COLUMNS        24 /* as many as the daemon counts parts */
#define NARROW_TREND_COLUMNS 8

/* Of shares with their branches. */
static int add_prediction_columns(const struct top *top, struct table *table)
{
	int r = table_add_column(table, "SHARE", TABLE_RIGHT);

	if (r >= 0)
		r = table_add_column(table, "MISPREDICTED", TABLE_RIGHT | TABLE_SPARE);
	if (r >= 0)
		r = table_add_column(table, "RATE", TABLE_RIGHT);
	if (r >= 0 && top->owner)
		r = share_owner_add_column(table, top->owner);
	return r < 0 ? r : share_name_add_columns(table, top->by);
}

static int fill_predictions(const struct top *top, struct table *table, const struct share *share)
{
	const struct profile *profile = top->source->shown;
	size_t column = 3;
	int r;

	r = cell_set_percent(table, 0, share->mispredicted, top->n_mispredicted);
	if (r >= 0)
		r = cell_set_count(table, 1, share->mispredicted);
	if (r >= 0)
		r = table_printf(
			table, 2, "%.1f%%",
			percent_of(share->mispredicted, share->mispredicted + share->predicted));
	if (r >= 0 && top->owner)
		r = share_owner_set(table, column++, profile, top->owner, &share->key);
	return r < 0 ? r : share_name_set(table, column, profile, top->by, &share->key);
}

int share_rows_add_columns(const struct top *top, struct table *table)
{
	int r;

	if (top->mispredicted)
		return add_prediction_columns(top, table);
	r = table_add_column(table, "SELF", TABLE_RIGHT);
	if (r >= 0 && share_has_total(top->by))
		r = table_add_column(table, "TOTAL", TABLE_RIGHT);
	if (r >= 0 && top->trends)
		r = table_add_column(table, "TREND", TABLE_SPARE);
	if (r >= 0)
		r = table_add_column(table, "SAMPLES", TABLE_RIGHT | TABLE_SPARE);
	if (r >= 0 && top->owner)
		r = share_owner_add_column(table, top->owner);
	return r < 0 ? r : share_name_add_columns(table, top->by);
}

/* As wide as the terminal permits. */
static int set_trend(struct table *table, size_t column, const struct top *top,
		     const struct share *share)
{
	const struct profile *profile = top->source->shown;
	const double *points =
		trends_find(top->trends, share_identity(profile, top->by, &share->key));
	char text[TREND_COLUMNS * SPARK_BYTES + 1] = "";

	if (points)
		spark_format(text, table_is_narrow(table) ? NARROW_TREND_COLUMNS : TREND_COLUMNS,
			     points, top->trends->n_points);
	return table_set(table, column, text);
}

int share_rows_fill(const struct top *top, struct table *table, size_t i)
{
	const struct share *share = &top->shares->rows[i];
	uint64_t samples = top->source->all->counters.samples;
	size_t column = 0;
	int r;

	if (top->mispredicted)
		return fill_predictions(top, table, share);
	r = cell_set_percent(table, column++, share->self, samples);
	if (r >= 0 && share_has_total(top->by))
		r = cell_set_percent(table, column++, share->total, samples);
	if (r >= 0 && top->trends)
		r = set_trend(table, column++, top, share);
	if (r >= 0)
		r = cell_set_count(table, column++, share->self);
	if (r >= 0 && top->owner)
		r = share_owner_set(table, column++, top->source->shown, top->owner, &share->key);
	return r < 0 ? r : share_name_set(table, column, top->source->shown, top->by, &share->key);
}
