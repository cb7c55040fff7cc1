/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/window/hot-places.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"
#include "common/util/fnv.h"

#define KERNEL PROFILE_NONE /* instead of a process: its functions are those of all processes */
#define ENOUGH 200          /* samples of a user; to capture as many costs next to nothing */

/* Sampled addresses; later those of one function. */
struct leaf {
	uint32_t process, object, function;
	uint64_t start, end, samples;
};

/* A process, and its hot functions among the leaves. */
struct ranked {
	int32_t pid;
	uint32_t uid;
	uint64_t samples;
	uint64_t n_hot, n_cold; /* samples of its leaves */
	size_t first, n;
};

/* What short-lived processes of a user did, which are counted as one. */
struct user {
	bool known;
	uint32_t uid;
	uint64_t n_hot, n_cold; /* samples, without those of the kernel */
};

uint64_t hot_places_object(const struct profile_object *object)
{
	return fnv_add_text(fnv_add_number(FNV_BASIS, object->kind), object->path) | 1;
}

static bool is_of_kernel(const struct profile_object *object)
{
	return object->kind == OBJECT_KERNEL || object->kind == OBJECT_MODULE;
}

static int compare_leaves(const void *x, const void *y)
{
	const struct leaf *a = x, *b = y;

	RETURN_UNLESS_EQUAL(COMPARE(a->process, b->process));
	RETURN_UNLESS_EQUAL(COMPARE(a->object, b->object));
	return COMPARE(a->function, b->function);
}

static int compare_ranked(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	RETURN_UNLESS_EQUAL(COMPARE(b->samples, a->samples));
	return COMPARE(a->pid, b->pid);
}

static struct leaf make_leaf(const struct profile *p, size_t i)
{
	const struct profile_function *f = profile_stack_function(p, i);
	const struct profile_stack *stack = &p->stacks[i];
	uint64_t offset = stack->frame.offset;

	return (struct leaf){
		.process = is_of_kernel(&p->objects[stack->frame.object]) ? KERNEL : stack->process,
		.object = stack->frame.object,
		.function = f ? (uint32_t)(f - p->functions) : PROFILE_NONE,
		.start = f ? f->start : offset,
		.end = f ? MAX(f->start + f->size, offset + 1) : offset + 1,
		.samples = stack->samples,
	};
}

/* Adds up the leaves of each function. */
static size_t merge_leaves(struct leaf *leaves, size_t n)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		struct leaf *last = m > 0 ? &leaves[m - 1] : NULL;

		if (!last || compare_leaves(last, &leaves[i]) != 0) {
			leaves[m++] = leaves[i];
			continue;
		}
		last->start = MIN(last->start, leaves[i].start);
		last->end = MAX(last->end, leaves[i].end);
		last->samples += leaves[i].samples;
	}
	return m;
}

static int find_functions(const struct profile *p, struct leaf **ret, size_t *ret_n)
{
	struct leaf *leaves;
	size_t n = 0;

	if (ARRAY_ALLOCATE(&leaves, p->n_stacks) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_stacks; i++)
		if (p->stacks[i].samples > 0 && p->stacks[i].frame.object != PROFILE_NONE)
			leaves[n++] = make_leaf(p, i);
	if (n > 0)
		qsort(leaves, n, sizeof(*leaves), compare_leaves);
	*ret = leaves;
	*ret_n = merge_leaves(leaves, n);
	return 0;
}

/* Keeps the hot ones of the functions of a process, which begin at @i and are followed by others.
 * The number of all. */
static size_t rank_process(const struct profile *p, struct leaf *leaves, size_t n, size_t i,
			   double share, struct ranked *ret)
{
	uint32_t process = leaves[i].process;
	size_t k = i;

	*ret = (struct ranked){ .samples = UINT64_MAX, .first = i };
	if (process != KERNEL) {
		ret->pid = p->processes[process].pid;
		ret->uid = p->processes[process].uid;
		ret->samples = p->processes[process].samples;
	}
	for (; k < n && leaves[k].process == process; k++) {
		uint64_t all = process == KERNEL ? p->counters.samples : ret->samples;

		if ((double)leaves[k].samples >= share * (double)all) {
			ret->n_hot += leaves[k].samples;
			leaves[i + ret->n++] = leaves[k];
		} else {
			ret->n_cold += leaves[k].samples;
		}
	}
	return k - i;
}

static struct hot_place make_place(const struct profile *p, int32_t pid, const struct leaf *leaf)
{
	const struct profile_object *object = &p->objects[leaf->object];
	bool by_address = is_of_kernel(object) || object->kind == OBJECT_MEMORY;

	return (struct hot_place){
		.pid = pid,
		.object = by_address ? 0 : hot_places_object(object),
		.start = object->base + leaf->start, /* only the kernel's objects have a base */
		.end = object->base + leaf->end,
	};
}

static void put_places(struct hot_places *to, const struct profile *p, const struct leaf *leaves,
		       const struct ranked *process)
{
	if (process->n + 1 > HOT_PLACES_MAX - to->n)
		return;
	to->rows[to->n++] = (struct hot_place){ .pid = process->pid };
	for (size_t i = 0; i < process->n; i++)
		to->rows[to->n++] = make_place(p, process->pid, &leaves[process->first + i]);
}

/* The entry of @uid, perhaps a new one; NULL: there is no room. */
static struct user *find_user(struct user users[static HOT_PLACES_USERS], uint32_t uid)
{
	for (size_t i = 0; i < HOT_PLACES_USERS; i++) {
		if (users[i].known && users[i].uid != uid)
			continue;
		users[i].known = true;
		users[i].uid = uid;
		return &users[i];
	}
	return NULL;
}

/* Of the @n processes those with the most samples come first. */
static void find_cold_users(struct hot_places *to, const struct ranked *processes, size_t n)
{
	struct user users[HOT_PLACES_USERS] = { 0 };

	for (size_t i = 0; i < n; i++) {
		struct user *user =
			processes[i].pid < 0 ? find_user(users, processes[i].uid) : NULL;

		if (!user)
			continue;
		user->n_hot += processes[i].n_hot;
		user->n_cold += processes[i].n_cold;
	}
	for (size_t i = 0; i < HOT_PLACES_USERS; i++)
		if (users[i].n_hot + users[i].n_cold >= ENOUGH && users[i].n_cold > users[i].n_hot)
			to->cold_users[to->n_cold_users++] = users[i].uid;
}

int hot_places_rank(struct hot_places **ret, const struct profile *profile, double share)
{
	_cleanup_free_ struct hot_places *places = calloc(1, sizeof(*places));
	_cleanup_free_ struct ranked *processes = NULL;
	_cleanup_free_ struct leaf *leaves = NULL;
	size_t n, n_processes = 0;

	if (!places || find_functions(profile, &leaves, &n) < 0 ||
	    ARRAY_ALLOCATE(&processes, profile->n_processes + 1) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n;)
		i += rank_process(profile, leaves, n, i, share, &processes[n_processes++]);
	qsort(processes, n_processes, sizeof(*processes), compare_ranked);
	for (size_t i = 0; i < n_processes; i++)
		if (processes[i].pid > 0 || processes[i].samples == UINT64_MAX)
			put_places(places, profile, leaves, &processes[i]);
	find_cold_users(places, processes, n_processes);
	*ret = TAKE_PTR(places);
	return 0;
}
