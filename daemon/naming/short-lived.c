/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/naming/short-lived.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"

static int compare_programs(const void *x, const void *y)
{
	return profile_compare_programs(*(struct profile_process *const *)x,
					*(struct profile_process *const *)y);
}

/* A number that is in use again counts as the process that had it. */
static bool has_exited(int32_t pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH;
}

static size_t find_exited(struct profile *profile, struct profile_process **ret)
{
	uint64_t began_ns = profile->info.start_ns;
	size_t n = 0;

	for (size_t i = 0; i < profile->n_processes; i++) {
		struct profile_process *process = &profile->processes[i];

		if (process->pid > 0 && process->start_ns > 0 && process->start_ns >= began_ns &&
		    has_exited(process->pid))
			ret[n++] = process;
	}
	return n;
}

void short_lived_unite(struct profile *profile)
{
	_cleanup_free_ struct profile_process **found = NULL;
	size_t n, end;

	if (profile->n_processes < SHORT_LIVED_MIN ||
	    ARRAY_ALLOCATE(&found, profile->n_processes) < 0)
		return;
	n = find_exited(profile, found);
	qsort(found, n, sizeof(struct profile_process *), compare_programs);
	for (size_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && compare_programs(&found[i], &found[end]) == 0;)
			end++;
		for (size_t k = i; k < end && end - i >= SHORT_LIVED_MIN; k++) {
			found[k]->pid = -1;
			found[k]->start_ns = 0;
			found[k]->n_gone = 1;
			profile->finalized = false;
		}
	}
}
