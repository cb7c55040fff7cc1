/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The name of a perf event whose recording does not tell it. */
#pragma once

#include <stddef.h>

#include <linux/perf_event.h>

#include "common/util/macro.h"

/* perf's name of a generic event, else type and config in numbers. */
void event_name_format(char *ret, size_t n, const struct perf_event_attr *attr);
