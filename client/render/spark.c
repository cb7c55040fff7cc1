/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/spark.h"

#include <langinfo.h>
#include <string.h>

#include "common/util/macro.h"

#define N_LEVELS 8

static const char *const bars[N_LEVELS] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
static const char *const ascii[N_LEVELS] = { "_", ".", ":", "-", "=", "+", "*", "#" };

bool spark_is_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static const char *character(double value, double largest)
{
	size_t level = largest > 0 ? (size_t)(value / largest * N_LEVELS) : 0;

	if (value < 0)
		return " ";
	return (spark_is_utf8() ? bars : ascii)[MIN(level, (size_t)N_LEVELS - 1)];
}

void spark_write(FILE *f, double value, double largest)
{
	fputs(character(value, largest), f);
}

/* The mean of the known ones of @values[@first] to before @end; -1: none is. */
static double mean(const double *values, size_t first, size_t end)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = first; i < end; i++)
		if (values[i] >= 0) {
			sum += values[i];
			n++;
		}
	return n > 0 ? sum / (double)n : -1;
}

void spark_format(char *ret, size_t n_columns, const double *values, size_t n)
{
	size_t n_shown = MIN(n, n_columns);
	double largest = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < n_shown; i++)
		largest = MAX(largest, mean(values, i * n / n_shown, (i + 1) * n / n_shown));
	for (size_t i = 0; i < n_shown; i++)
		strcat(ret,
		       character(mean(values, i * n / n_shown, (i + 1) * n / n_shown), largest));
}
