/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cli/options/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/options/value.h"
#include "client/metrics/metrics.h"
#include "common/util/cleanup.h"

static int parse_dump(struct options *options, const char *format, struct fault *fault)
{
	if (!format)
		return 0;
	options->json = strcmp(format, "json") == 0;
	if (!options->json && strcmp(format, "text") != 0)
		return options_wrong(fault, "--format", format, "text or json");
	return 0;
}

/* "folded, pprof, speedscope"; heap, or NULL. */
static char *list_formats(void)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return NULL;
	for (size_t i = 0; i < n_export_formats; i++)
		fprintf(f, "%s%s", i > 0 ? ", " : "", export_formats[i].name);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

static int parse_export(struct options *options, const char *format, struct fault *fault)
{
	_cleanup_free_ char *formats = list_formats();

	if (!formats)
		return fault_set(fault, -ENOMEM, "out of memory");
	if (!format)
		return fault_set(fault, -EINVAL, "export needs --format and one of %s", formats);
	if (options->output_path && strcmp(options->output_path, "-") == 0)
		options->output_path = NULL;
	options->export_format = export_find_format(format);
	return options->export_format ? 0 : options_wrong(fault, "--format", format, formats);
}

/* The formats that are pictures. */
static int parse_flame(struct options *options, const char *format, struct fault *fault)
{
	bool is_svg = format && strcmp(format, "svg") == 0;

	if (format && !is_svg && strcmp(format, "html") != 0)
		return options_wrong(fault, "--format", format, "html or svg");
	if (is_svg && options->new_window)
		return fault_set(fault, -EINVAL, "flame --diff has only the format html");
	if (options->new_window && !options->source.window)
		return fault_set(fault, -EINVAL,
				 "flame --diff needs a WINDOW to compare with, as in branchctl "
				 "flame yesterday --diff today");
	if (options->open && options->output_path && strcmp(options->output_path, "-") == 0)
		return fault_set(fault, -EINVAL, "flame --open needs a file, not -o -");
	options->export_format = export_find_format(is_svg ? "svg" : "html");
	if (!options->output_path)
		options->output_path = is_svg ? "flame.svg" : "flame.html";
	return 0;
}

static int parse_metrics(struct options *options, const char *format, struct fault *fault)
{
	if (options->top.n_rows > METRICS_MAX_FUNCTIONS ||
	    (options->rows_given && options->top.n_rows == 0))
		return fault_set(fault, -EINVAL, "metrics -n: give 1 to %d functions",
				 METRICS_MAX_FUNCTIONS);
	if (options->output_path && strcmp(options->output_path, "-") == 0)
		options->output_path = NULL;
	if (!format || strcmp(format, "openmetrics") == 0)
		options->metrics_format = METRICS_OPENMETRICS;
	else if (strcmp(format, "prometheus") == 0)
		options->metrics_format = METRICS_PROMETHEUS;
	else
		return options_wrong(fault, "--format", format, "openmetrics or prometheus");
	return 0;
}

int options_parse_format(struct options *options, const char *format, struct fault *fault)
{
	switch (options->command) {
	case COMMAND_DUMP:
		return parse_dump(options, format, fault);
	case COMMAND_EXPORT:
		return parse_export(options, format, fault);
	case COMMAND_FLAME:
		return parse_flame(options, format, fault);
	case COMMAND_METRICS:
		return parse_metrics(options, format, fault);
	default:
		return 0;
	}
}
