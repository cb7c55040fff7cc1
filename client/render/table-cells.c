/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/table-cells.h"

#include <inttypes.h>

#include "client/term/color.h"
#include "common/util/percent.h"

int cell_set_percent(struct table *table, size_t column, uint64_t part, uint64_t all)
{
	double percent = percent_of(part, all);
	int r = table_printf(table, column, "%.2f%%", percent);

	if (r >= 0 && percent >= COLOR_HOT_PERCENT)
		r = table_set_color(table, column, "red");
	else if (r >= 0 && percent >= COLOR_WARM_PERCENT)
		r = table_set_color(table, column, "green");
	return r;
}

int cell_set_count(struct table *table, size_t column, uint64_t count)
{
	return table_printf(table, column, "%" PRIu64, count);
}

int cell_set_average(struct table *table, size_t column, uint64_t sum, uint64_t n)
{
	if (n == 0)
		return table_set(table, column, "-");
	return table_printf(table, column, "%.1f", (double)sum / (double)n);
}
