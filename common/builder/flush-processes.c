/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/flush-processes.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

struct short_lived {
	struct profile_process process;
	uint32_t context;
};

static struct profile_process describe(const struct process_context *process_context)
{
	return (struct profile_process){
		.pid = process_context->pid,
		.start_ns = process_context->start_ns,
		.comm = process_context->comm,
		.executable = process_context->executable,
		.unit = process_context->unit,
		.uid = process_context->uid,
		.restricted = process_context->restricted,
	};
}

static int compare_known(const void *x, const void *y)
{
	return profile_compare_processes(*(const struct profile_process *const *)x,
					 *(const struct profile_process *const *)y);
}

/* The rows that an earlier flush of this window has made. */
static int find_known(struct flush *f)
{
	_cleanup_free_ const struct profile_process **known = NULL;
	const struct builder *b = f->builder;
	const struct profile *p = f->profile;

	if (p->n_processes == 0)
		return 0;
	if (ARRAY_ALLOCATE(&known, p->n_processes) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_processes; i++)
		known[i] = &p->processes[i];
	qsort(known, p->n_processes, sizeof(*known), compare_known);
	for (size_t i = 0; i < b->n_contexts; i++) {
		const struct profile_process process = describe(b->contexts[i]), *key = &process;
		const struct profile_process **found =
			bsearch(&key, known, p->n_processes, sizeof(*known), compare_known);

		if (found)
			f->rows[i] = (uint32_t)(*found - p->processes);
	}
	return 0;
}

/* Those that may be united. What was flushed before may hold samples of the others. */
static size_t find_short_lived(const struct flush *f, struct short_lived *ret)
{
	const struct builder *b = f->builder;
	size_t n = 0;

	for (size_t i = 0; i < b->n_contexts; i++)
		if (f->rows[i] == PROFILE_NONE && b->contexts[i]->start_ns > b->flushed_until_ns &&
		    processes_has_exited(f->processes, b->contexts[i]))
			ret[n++] = (struct short_lived){ describe(b->contexts[i]), (uint32_t)i };
	return n;
}

static int compare_processes(const struct short_lived *a, const struct short_lived *b)
{
	RETURN_UNLESS_EQUAL(COMPARE(a->process.start_ns, b->process.start_ns));
	return COMPARE(a->process.pid, b->process.pid);
}

static int compare(const void *x, const void *y)
{
	const struct short_lived *a = x, *b = y;

	RETURN_UNLESS_EQUAL(profile_compare_programs(&a->process, &b->process));
	return compare_processes(a, b);
}

/* A process has several contexts if its address space changed. */
static size_t count_processes(const struct short_lived *found, size_t n)
{
	size_t n_processes = 1;

	for (size_t i = 1; i < n; i++)
		n_processes += compare_processes(&found[i - 1], &found[i]) != 0;
	return n_processes;
}

/* The row of processes of that program that an earlier flush of this window has united; or -ENOENT.
 */
static int64_t find_united(const struct profile *p, const struct profile_process *process)
{
	for (size_t i = 0; i < p->n_processes; i++)
		if (p->processes[i].n_gone > 0 &&
		    profile_compare_programs(&p->processes[i], process) == 0)
			return (int64_t)i;
	return -ENOENT;
}

/* @found, sorted, are all of one program. */
static int unite(struct flush *f, const struct short_lived *found, size_t n)
{
	size_t n_processes = count_processes(found, n);
	int64_t row = find_united(f->profile, &found->process);

	if (row == -ENOENT && n_processes < BUILDER_UNITE_MIN)
		return 0;
	if (row == -ENOENT)
		row = profile_add_process(f->profile, &found->process);
	if (row < 0)
		return -ENOMEM;
	f->profile->processes[row].n_gone += n_processes;
	for (size_t i = 0; i < n; i++)
		f->rows[found[i].context] = (uint32_t)row;
	f->sums_stacks = true;
	return 0;
}

static int unite_short_lived(struct flush *f)
{
	_cleanup_free_ struct short_lived *found = NULL;
	size_t n, end;

	if (ARRAY_ALLOCATE(&found, f->builder->n_contexts) < 0)
		return -ENOMEM;
	n = find_short_lived(f, found);
	qsort(found, n, sizeof(*found), compare);
	for (size_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n; end++)
			if (profile_compare_programs(&found[i].process, &found[end].process) != 0)
				break;
		if (unite(f, &found[i], end - i) < 0)
			return -ENOMEM;
	}
	return 0;
}

int flush_processes(struct flush *f)
{
	const struct builder *b = f->builder;

	if (ARRAY_ALLOCATE(&f->rows, b->n_contexts) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < b->n_contexts; i++)
		f->rows[i] = PROFILE_NONE;
	f->sums_stacks = f->profile->n_stacks > 0;
	if (find_known(f) < 0)
		return -ENOMEM;
	if (b->settings.unite_gone && !b->keeps_processes && unite_short_lived(f) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < b->n_contexts; i++) {
		struct profile_process process = describe(b->contexts[i]);
		int64_t row = f->rows[i];

		if (row == PROFILE_NONE)
			row = profile_add_process(f->profile, &process);
		if (row < 0)
			return -ENOMEM;
		f->rows[i] = (uint32_t)row;
	}
	return 0;
}
