/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/database/problems.h"

#include <stdarg.h>
#include <stdio.h>

void problems_add(struct problems *problems, const char *where, const char *format, ...)
{
	struct problem *row;
	va_list arguments;

	problems->n_all++;
	if (problems->n == PROBLEMS_MAX)
		return;
	row = &problems->rows[problems->n++];
	snprintf(row->where, sizeof(row->where), "%s", where);
	va_start(arguments, format);
	vsnprintf(row->what, sizeof(row->what), format, arguments);
	va_end(arguments);
}
