/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/flush-processes.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

/* A process, and the number of its context or of its row. */
struct numbered {
	struct profile_process process;
	uint32_t number;
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

/* The rows that an earlier flush of this window has made, for the process contexts from @first on.
 */
static int find_known(struct flush *f, size_t first)
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
	for (size_t i = first; i < b->n_contexts; i++) {
		const struct profile_process process = describe(b->contexts[i]), *key = &process;
		const struct profile_process **found =
			bsearch(&key, known, p->n_processes, sizeof(*known), compare_known);

		if (found)
			b->processes[i] = (uint32_t)(*found - p->processes);
	}
	return 0;
}

/* Those that may be united, from the context @first on. What was flushed before may hold samples of
 * the others. */
static size_t find_short_lived(const struct flush *f, size_t first, struct numbered *ret)
{
	const struct builder *b = f->builder;
	size_t n = 0;

	for (size_t i = first; i < b->n_contexts; i++)
		if (b->processes[i] == PROFILE_NONE &&
		    b->contexts[i]->start_ns > b->flushed_until_ns &&
		    processes_has_exited(f->processes, b->contexts[i]))
			ret[n++] = (struct numbered){ describe(b->contexts[i]), (uint32_t)i };
	return n;
}

static int compare_processes(const struct numbered *a, const struct numbered *b)
{
	RETURN_UNLESS_EQUAL(COMPARE(a->process.start_ns, b->process.start_ns));
	return COMPARE(a->process.pid, b->process.pid);
}

static int compare(const void *x, const void *y)
{
	const struct numbered *a = x, *b = y;

	RETURN_UNLESS_EQUAL(profile_compare_programs(&a->process, &b->process));
	return compare_processes(a, b);
}

/* A process has several contexts if its address space changed. */
static size_t count_processes(const struct numbered *found, size_t n)
{
	size_t n_processes = 1;

	for (size_t i = 1; i < n; i++)
		n_processes += compare_processes(&found[i - 1], &found[i]) != 0;
	return n_processes;
}

/* The rows of those that an earlier flush of this window has united, in the order of programs. */
static int list_united(const struct profile *p, struct numbered **ret, size_t *ret_n)
{
	size_t n = 0;

	if (ARRAY_ALLOCATE(ret, p->n_processes) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_processes; i++)
		if (p->processes[i].n_gone > 0)
			(*ret)[n++] = (struct numbered){ p->processes[i], (uint32_t)i };
	qsort(*ret, n, sizeof(**ret), compare);
	*ret_n = n;
	return 0;
}

/* @found, in the order of programs, are all of one, and @united has its row, or is NULL. */
static int unite(struct flush *f, const struct numbered *found, size_t n,
		 const struct numbered *united)
{
	size_t n_processes = count_processes(found, n);
	int64_t row;

	if (!united && n_processes < BUILDER_UNITE_MIN)
		return 0;
	row = united ? united->number : profile_add_process(f->profile, &found->process);
	if (row < 0)
		return -ENOMEM;
	f->profile->processes[row].n_gone += n_processes;
	for (size_t i = 0; i < n; i++)
		f->builder->processes[found[i].number] = (uint32_t)row;
	f->sums_stacks = true;
	return 0;
}

/* Goes through both lists at once. */
static int unite_short_lived(struct flush *f, size_t first)
{
	_cleanup_free_ struct numbered *found = NULL, *united = NULL;
	size_t n, n_united, end, u = 0;
	int order;

	if (ARRAY_ALLOCATE(&found, f->builder->n_contexts) < 0 ||
	    list_united(f->profile, &united, &n_united) < 0)
		return -ENOMEM;
	n = find_short_lived(f, first, found);
	qsort(found, n, sizeof(*found), compare);
	for (size_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n; end++)
			if (profile_compare_programs(&found[i].process, &found[end].process) != 0)
				break;
		for (order = -1; u < n_united; u++) {
			order = profile_compare_programs(&found[i].process, &united[u].process);
			if (order <= 0)
				break;
		}
		if (unite(f, &found[i], end - i, order == 0 ? &united[u] : NULL) < 0)
			return -ENOMEM;
	}
	return 0;
}

int flush_processes(struct flush *f)
{
	struct builder *b = f->builder;
	size_t first = b->n_processes;

	if (ARRAY_RESERVE(&b->processes, &b->cap_processes, b->n_contexts) < 0)
		return -ENOMEM;
	for (; b->n_processes < b->n_contexts; b->n_processes++)
		b->processes[b->n_processes] = PROFILE_NONE;
	f->sums_stacks = f->profile->n_stacks > 0;
	if (first == b->n_contexts)
		return 0;
	if (find_known(f, first) < 0)
		return -ENOMEM;
	if (b->settings.unite_gone && !b->keeps_processes && unite_short_lived(f, first) < 0)
		return -ENOMEM;
	for (size_t i = first; i < b->n_contexts; i++) {
		const struct profile_process process = describe(b->contexts[i]);
		int64_t row = b->processes[i];

		if (row == PROFILE_NONE)
			row = profile_add_process(f->profile, &process);
		if (row < 0)
			return -ENOMEM;
		b->processes[i] = (uint32_t)row;
	}
	return 0;
}
