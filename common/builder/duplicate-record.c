/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/duplicate-record.h"

#include <stdio.h>

#include "common/util/macro.h"

uint32_t duplicate_record_depth(const char *cpuid)
{
	static const unsigned int models[] = { 0x4e, 0x5e, 0x55, 0x8e, 0x9e, 0xa5, 0xa6 };
	unsigned int family, model;

	if (!cpuid || sscanf(cpuid, "GenuineIntel,%u,%u", &family, &model) != 2 || family != 6)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(models); i++)
		if (model == models[i])
			return 32;
	return 0;
}
