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

static const char *const user_stacks_names[N_SAMPLER_USER_STACKS] = {
	[SAMPLER_USER_AUTO] = "auto",
	[SAMPLER_USER_TABLES] = "tables",
	[SAMPLER_USER_FRAME_POINTERS] = "frame-pointers",
	[SAMPLER_USER_NONE] = "none",
};

const char *sampler_mode_name(enum sampler_mode mode)
{
	return mode_names[mode];
}

static int find_name(const char *name, const char *const *names, int n)
{
	for (int i = 0; i < n; i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	return -EINVAL;
}

int sampler_mode_parse(const char *name)
{
	return find_name(name, mode_names, N_SAMPLER_MODES);
}

const char *sampler_user_stacks_name(enum sampler_user_stacks stacks)
{
	return user_stacks_names[stacks];
}

int sampler_user_stacks_parse(const char *name)
{
	return find_name(name, user_stacks_names, N_SAMPLER_USER_STACKS);
}
