/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/metrics/labels.h"

#include <errno.h>
#include <stdlib.h>

#include "client/term/text.h"
#include "common/util/cleanup.h"

void metric_write_name(FILE *f, const char *name, enum metric_type type)
{
	fprintf(f, "%s%s", name, type == METRIC_COUNTER ? "_total" : "");
}

/* OpenMetrics names the family, the older format its series. */
static void write_line(FILE *f, enum metrics_format format, const struct metric_head *head,
		       const char *word, const char *text)
{
	fprintf(f, "# %s ", word);
	metric_write_name(f, head->name, format == METRICS_PROMETHEUS ? head->type : METRIC_GAUGE);
	fprintf(f, " %s\n", text);
}

void metric_write_head(FILE *f, enum metrics_format format, const struct metric_head *head)
{
	write_line(f, format, head, "TYPE", head->type == METRIC_COUNTER ? "counter" : "gauge");
	if (head->unit && format == METRICS_OPENMETRICS)
		write_line(f, format, head, "UNIT", head->unit);
	write_line(f, format, head, "HELP", head->help);
}

int metric_write_label(FILE *f, const char *name, const char *value)
{
	_cleanup_free_ char *text = NULL;
	size_t n;
	FILE *memory = open_memstream(&text, &n);

	if (!memory)
		return -ENOMEM;
	text_write(memory, value);
	if (fclose(memory) != 0)
		return -ENOMEM;
	fprintf(f, "%s=\"", name);
	for (const char *c = text; *c; c++) {
		if (*c == '"' || *c == '\\')
			fputc('\\', f);
		fputc(*c, f);
	}
	fputc('"', f);
	return 0;
}
