/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Merging appends the rows of all profiles to a new one; finalizing it adds up equal keys. The sum
 * is finalized whenever it reaches twice its size, so that a day of windows does not take the
 * memory of all its windows.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/append.h"
#include "common/profile/profile.h"
#include "common/util/cleanup.h"

#define ROWS_BEFORE_FINALIZE 100000

void profile_add_counters(struct profile_counters *sum, const struct profile_counters *counters)
{
#define X(name, what) sum->name += counters->name;
	PROFILE_COUNTERS(X)
#undef X
}

static const char *common_string(const char *a, const char *b, const char *otherwise)
{
	if (a == b || (a && b && strcmp(a, b) == 0))
		return a;
	return otherwise;
}

/* @sum borrows its strings from the profiles. */
static void merge_info(struct profile_info *sum, const struct profile_info *info)
{
	sum->mode = common_string(sum->mode, info->mode, "mixed");
	sum->event = common_string(sum->event, info->event, NULL);
	sum->hostname = common_string(sum->hostname, info->hostname, NULL);
	sum->os_release = common_string(sum->os_release, info->os_release, NULL);
	sum->cpu = common_string(sum->cpu, info->cpu, NULL);
	sum->n_cpus = sum->n_cpus == info->n_cpus ? sum->n_cpus : 0;
	sum->depth = sum->depth == info->depth ? sum->depth : 0;
	if (sum->start_ns == 0 || (info->start_ns != 0 && info->start_ns < sum->start_ns))
		sum->start_ns = info->start_ns;
	sum->end_ns = MAX(sum->end_ns, info->end_ns);
}

static int own_info(struct profile *profile, const struct profile_info *info)
{
	int r = 0;

	profile->info = *info;
	profile->info.mode = profile_string(profile, info->mode, &r);
	profile->info.event = profile_string(profile, info->event, &r);
	profile->info.hostname = profile_string(profile, info->hostname, &r);
	profile->info.os_release = profile_string(profile, info->os_release, &r);
	profile->info.cpu = profile_string(profile, info->cpu, &r);
	return r;
}

int profile_add_info(struct profile *profile, const struct profile_info *info, bool is_first)
{
	struct profile_info sum = is_first ? *info : profile->info;

	if (!is_first)
		merge_info(&sum, info);
	return own_info(profile, &sum);
}

size_t profile_n_rows(const struct profile *profile)
{
	const struct profile *p = profile;

	return p->n_objects + p->n_processes + p->n_functions + p->n_stacks + p->n_streams +
	       p->n_branches + p->n_blocks;
}

/* Finalizes @sum if its rows are twice *@n_finalized, their number when it was last finalized. */
static int finalize_if_grown(struct profile *sum, size_t *n_finalized)
{
	int r;

	if (profile_n_rows(sum) < MAX(2 * *n_finalized, (size_t)ROWS_BEFORE_FINALIZE))
		return 0;
	r = profile_finalize(sum);
	if (r < 0)
		return r;
	*n_finalized = profile_n_rows(sum);
	return 0;
}

int profile_merge(struct profile **ret, const struct profile *const *profiles, size_t n)
{
	_cleanup_(profile_freep) struct profile *sum = NULL;
	struct profile_info info = { 0 };
	size_t n_finalized = 0;
	int r;

	r = profile_new(&sum);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		assert(profiles[i]->finalized);

		if (i == 0)
			info = profiles[i]->info;
		else
			merge_info(&info, &profiles[i]->info);
		profile_add_counters(&sum->counters, &profiles[i]->counters);
		r = profile_append(sum, profiles[i]);
		if (r < 0)
			return r;
		r = finalize_if_grown(sum, &n_finalized);
		if (r < 0)
			return r;
	}
	r = own_info(sum, &info);
	if (r < 0)
		return r;
	r = profile_finalize(sum);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(sum);
	return 0;
}
