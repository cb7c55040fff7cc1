/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A list of a profile's counters: names, meanings and values. New counters are in it by themselves.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"

struct counter {
	const char *name;
	const char *what;
	uint64_t value;
};

#define X(name, what) +1
enum { N_COUNTERS = 0 PROFILE_COUNTERS(X) };
#undef X

struct counter counters_get(const struct profile_counters *counters, size_t i);

/* The sum of all losses. */
uint64_t counters_lost(const struct profile_counters *counters);
