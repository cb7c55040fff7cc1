/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of a program that `branch-simulator --named NAME` samples. */
#pragma once

#include <sys/prctl.h>

static inline void sample_as(const char *name)
{
	prctl(PR_SET_NAME, name);
}

static inline void sample_no_more(void)
{
	prctl(PR_SET_NAME, "unsampled");
}
