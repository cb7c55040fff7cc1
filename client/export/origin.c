/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/export/origin.h"

#include <string.h>

uint64_t origin_start_ns(const struct profile_source *source)
{
	if (source->windows.n > 0)
		return source->windows.rows[0].start_us * 1000;
	return source->profile->info.start_ns;
}

uint64_t origin_length_ns(const struct profile_source *source)
{
	const struct windows *windows = &source->windows;
	const struct profile_info *info = &source->profile->info;

	if (windows->n > 0)
		return (windows_end_us(&windows->rows[windows->n - 1]) -
			windows->rows[0].start_us) *
		       1000;
	return info->end_ns - info->start_ns;
}

const char *origin_event(const struct profile_source *source)
{
	return source->profile->info.event ?: "samples";
}

const char *origin_unit(const struct profile_source *source)
{
	const char *event = origin_event(source);

	return strstr(event, "cpu-clock") || strstr(event, "task-clock") ? "nanoseconds" : "count";
}

uint64_t origin_weight(const struct profile_source *source, const struct profile_stack *stack)
{
	return source->profile->counters.weight > 0 ? stack->weight : stack->samples;
}
