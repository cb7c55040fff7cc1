/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/view/counters.h"

static const struct {
	const char *name, *what;
	size_t offset;
} descriptions[N_COUNTERS] = {
#define X(name, what) { #name, what, offsetof(struct profile_counters, name) },
	PROFILE_COUNTERS(X)
#undef X
};

struct counter counters_get(const struct profile_counters *counters, size_t i)
{
	const char *field = (const char *)counters + descriptions[i].offset;

	return (struct counter){
		.name = descriptions[i].name,
		.what = descriptions[i].what,
		.value = *(const uint64_t *)(const void *)field,
	};
}

uint64_t counters_lost(const struct profile_counters *counters)
{
	return counters->lost_records + counters->lost_samples + counters->skipped;
}
