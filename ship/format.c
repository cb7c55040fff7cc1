/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ship/format.h"

#include <errno.h>
#include <string.h>

static const char *const names[N_FORMATS] = {
	[FORMAT_CLICKHOUSE] = "clickhouse",
	[FORMAT_PPROF] = "pprof",
	[FORMAT_OTLP] = "otlp",
};

const char *format_name(enum format format)
{
	return names[format];
}

int format_find(enum format *ret, const char *name)
{
	for (enum format format = 0; format < N_FORMATS; format++) {
		if (strcmp(names[format], name) == 0) {
			*ret = format;
			return 0;
		}
	}
	return -EINVAL;
}
