/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/util/fault.h"

#include <stdarg.h>
#include <stdio.h>

int fault_set(struct fault *fault, int r, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(fault->text, sizeof(fault->text), format, ap);
	va_end(ap);
	return r;
}
