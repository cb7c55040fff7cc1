/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/sampler/settings.h"

#include <errno.h>
#include <string.h>

static const char *const mode_names[N_SAMPLER_MODES] = {
	[SAMPLER_AUTO] = "auto",
	[SAMPLER_SOFTWARE] = "software",
	[SAMPLER_STACK] = "stack",
	[SAMPLER_BRANCH] = "branch",
	[SAMPLER_STACK_BRANCH] = "stack+branch",
};

const char *sampler_mode_name(enum sampler_mode mode)
{
	return mode_names[mode];
}

int sampler_mode_parse(const char *name)
{
	for (int i = 0; i < N_SAMPLER_MODES; i++)
		if (strcmp(name, mode_names[i]) == 0)
			return i;
	return -EINVAL;
}
