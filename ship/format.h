/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is sent: Format= of ship.conf(5). */
#pragma once

#include <stdbool.h>

enum format {
	FORMAT_CLICKHOUSE, /* rows of tables */
	FORMAT_PPROF,      /* a profile, as branchctl export writes it */
	FORMAT_OTLP,       /* the same */
	N_FORMATS,
};

const char *format_name(enum format format);

/* -EINVAL: there is none with that name. */
int format_find(enum format *ret, const char *name);

/* A batch has one window, or several as one, and is a profile. */
static inline bool format_is_profile(enum format format)
{
	return format != FORMAT_CLICKHOUSE;
}
