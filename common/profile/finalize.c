/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finalizing a profile: rows with equal keys are added up, and every table gets its canonical
 * order. This file has the short tables, processes and objects; finalize-places.c and
 * finalize-tables.c have the long ones.
 *
 * All steps that can fail only prepare the new short tables and the orders of the long ones. The
 * profile changes once nothing can fail any more.
 */
#include "common/profile/finalize-internal.h"

#include <string.h>

#include "common/util/cleanup.h"
#include "common/util/compare.h"

static void finalize_done(struct finalize *s)
{
	free(s->draft.objects);
	free(s->draft.processes);
	free(s->draft.functions);
	free(s->draft.outer);
	free(s->draft.places);
	free(s->draft.stack_places);
	free(s->process_map);
	free(s->object_map);
	free(s->n_location_refs);
	free(s->stack_map);
	free(s->stream_map);
	free(s->keys);
	free(s->places);
	free(s->rank);
	free(s->stack_order);
	free(s->stream_order);
}

/* Fills @order with 0 .. @n - 1. */
static void count_up(uint32_t *order, size_t n)
{
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
}

int profile_compare_programs(const struct profile_process *a, const struct profile_process *b)
{
	RETURN_UNLESS_EQUAL(compare_strings(a->comm, b->comm));
	RETURN_UNLESS_EQUAL(compare_strings(a->executable, b->executable));
	RETURN_UNLESS_EQUAL(COMPARE(a->uid, b->uid));
	RETURN_UNLESS_EQUAL(COMPARE(a->restricted, b->restricted));
	return compare_strings(a->unit, b->unit);
}

int profile_compare_processes(const struct profile_process *a, const struct profile_process *b)
{
	RETURN_UNLESS_EQUAL(COMPARE(a->pid, b->pid));
	RETURN_UNLESS_EQUAL(COMPARE(a->start_ns, b->start_ns));
	return profile_compare_programs(a, b);
}

static int compare_processes(const void *x, const void *y, void *userdata)
{
	const struct profile_process *processes = userdata;

	return profile_compare_processes(&processes[*(const uint32_t *)x],
					 &processes[*(const uint32_t *)y]);
}

static int finalize_processes(struct finalize *s)
{
	_cleanup_free_ uint32_t *order = NULL;
	const struct profile *p = s->p;
	struct profile *d = &s->draft;

	if (ARRAY_ALLOCATE(&order, p->n_processes) < 0 ||
	    ARRAY_ALLOCATE(&s->process_map, p->n_processes) < 0 ||
	    ARRAY_ALLOCATE(&d->processes, p->n_processes) < 0)
		return -ENOMEM;
	count_up(order, p->n_processes);
	qsort_r(order, p->n_processes, sizeof(*order), compare_processes, p->processes);
	for (size_t i = 0; i < p->n_processes; i++) {
		const struct profile_process *from = &p->processes[order[i]];

		if (i > 0 && compare_processes(&order[i - 1], &order[i], p->processes) == 0) {
			d->processes[d->n_processes - 1].samples += from->samples;
			d->processes[d->n_processes - 1].n_gone += from->n_gone;
		} else {
			d->processes[d->n_processes++] = *from;
		}
		s->process_map[order[i]] = (uint32_t)(d->n_processes - 1);
	}
	return 0;
}

static int compare_build_ids(const struct profile_object *a, const struct profile_object *b)
{
	RETURN_UNLESS_EQUAL(memcmp(a->build_id, b->build_id, sizeof(a->build_id)));
	return COMPARE(a->n_build_id, b->n_build_id);
}

static int compare_files(const struct profile_object *a, const struct profile_object *b)
{
	RETURN_UNLESS_EQUAL(COMPARE(a->major, b->major));
	RETURN_UNLESS_EQUAL(COMPARE(a->minor, b->minor));
	RETURN_UNLESS_EQUAL(COMPARE(a->inode, b->inode));
	RETURN_UNLESS_EQUAL(COMPARE(a->generation, b->generation));
	RETURN_UNLESS_EQUAL(COMPARE(a->untrusted, b->untrusted));
	return COMPARE(a->ctime_ns, b->ctime_ns);
}

static int compare_object_keys(const struct profile_object *a, const struct profile_object *b)
{
	RETURN_UNLESS_EQUAL(compare_build_ids(a, b));
	RETURN_UNLESS_EQUAL(COMPARE(a->untrusted, b->untrusted));
	if (a->n_build_id > 0)
		return a->untrusted ? compare_files(a, b) : 0;
	RETURN_UNLESS_EQUAL(COMPARE(a->kind, b->kind));
	RETURN_UNLESS_EQUAL(compare_strings(a->path, b->path));
	return compare_files(a, b);
}

bool profile_same_object(const struct profile_object *a, const struct profile_object *b)
{
	return compare_object_keys(a, b) == 0;
}

/* Objects of other paths stay apart until profile_unite(). */
static bool are_united(const struct profile_object *a, const struct profile_object *b)
{
	return a->kind == b->kind && compare_object_keys(a, b) == 0 &&
	       strcmp(a->path, b->path) == 0;
}

/*
 * Of several objects with one key the first in this order stays. Unknown values come last:
 * subtracting 1 makes 0 the largest number.
 */
static int compare_equal_objects(const struct profile_object *a, const struct profile_object *b)
{
	RETURN_UNLESS_EQUAL(COMPARE(a->kind, b->kind));
	RETURN_UNLESS_EQUAL(COMPARE(!*a->path, !*b->path));
	RETURN_UNLESS_EQUAL(compare_strings(a->path, b->path));
	RETURN_UNLESS_EQUAL(COMPARE(a->inode == 0, b->inode == 0));
	RETURN_UNLESS_EQUAL(compare_files(a, b));
	return COMPARE(a->base - 1, b->base - 1);
}

static int compare_for_grouping(const void *x, const void *y, void *userdata)
{
	const struct profile_object *objects = userdata;
	const struct profile_object *a = &objects[*(const uint32_t *)x];
	const struct profile_object *b = &objects[*(const uint32_t *)y];

	RETURN_UNLESS_EQUAL(compare_object_keys(a, b));
	return compare_equal_objects(a, b);
}

int finalize_compare_objects(const struct profile_object *a, const struct profile_object *b)
{
	RETURN_UNLESS_EQUAL(COMPARE(a->kind, b->kind));
	RETURN_UNLESS_EQUAL(compare_strings(a->path, b->path));
	RETURN_UNLESS_EQUAL(compare_build_ids(a, b));
	return compare_files(a, b);
}

static int compare_objects(const void *x, const void *y, void *userdata)
{
	const struct profile_object *objects = userdata;

	return finalize_compare_objects(&objects[*(const uint32_t *)x],
					&objects[*(const uint32_t *)y]);
}

void finalize_order_objects(uint32_t *order, const struct profile *p)
{
	count_up(order, p->n_objects);
	qsort_r(order, p->n_objects, sizeof(*order), compare_for_grouping, p->objects);
}

static inline void count_location_ref(struct finalize *s, uint32_t object)
{
	assert(object == PROFILE_NONE || object < s->p->n_objects);
	s->n_location_refs[object == PROFILE_NONE ? s->p->n_objects : object]++;
}

static void count_location_refs(struct finalize *s)
{
	const struct profile *p = s->p;

	for (size_t i = 0; i < p->n_stacks; i++)
		count_location_ref(s, p->stacks[i].frame.object);
	for (size_t i = 0; i < p->n_streams; i++) {
		count_location_ref(s, p->streams[i].from.object);
		count_location_ref(s, p->streams[i].to.object);
	}
	for (size_t i = 0; i < p->n_branches; i++) {
		count_location_ref(s, p->branches[i].from.object);
		count_location_ref(s, p->branches[i].to.object);
	}
	for (size_t i = 0; i < p->n_blocks; i++) {
		count_location_ref(s, p->blocks[i].object); /* its start and its end */
		count_location_ref(s, p->blocks[i].object);
	}
}

/*
 * Groups the objects with equal keys. The first of a group represents it: group[i] is the one that
 * represents object i. Reduces @order to the representatives of the used groups and returns their
 * number.
 */
static size_t group_objects(const struct finalize *s, uint32_t *order, uint32_t *group)
{
	const struct profile *p = s->p;
	size_t n = 0, end;

	qsort_r(order, p->n_objects, sizeof(*order), compare_for_grouping, p->objects);
	for (size_t i = 0; i < p->n_objects; i = end) {
		const struct profile_object *first = &p->objects[order[i]];
		uint32_t stands = order[i];
		bool any = false;

		for (end = i; end < p->n_objects; end++) {
			if (!are_united(first, &p->objects[order[end]]))
				break;
			group[order[end]] = stands;
			any |= s->n_location_refs[order[end]] > 0;
		}
		if (any)
			order[n++] = stands;
	}
	return n;
}

static int finalize_objects(struct finalize *s)
{
	_cleanup_free_ uint32_t *order = NULL, *group = NULL, *place = NULL;
	const struct profile *p = s->p;
	struct profile *d = &s->draft;

	s->n_location_refs = calloc(p->n_objects + 1, sizeof(*s->n_location_refs));
	if (!s->n_location_refs || ARRAY_ALLOCATE(&order, p->n_objects) < 0 ||
	    ARRAY_ALLOCATE(&group, p->n_objects) < 0 || ARRAY_ALLOCATE(&place, p->n_objects) < 0 ||
	    ARRAY_ALLOCATE(&s->object_map, p->n_objects) < 0)
		return -ENOMEM;
	count_location_refs(s);
	count_up(order, p->n_objects);
	d->n_objects = group_objects(s, order, group);
	qsort_r(order, d->n_objects, sizeof(*order), compare_objects, p->objects);

	if (ARRAY_ALLOCATE(&d->objects, d->n_objects) < 0)
		return -ENOMEM;
	memset(place, 0xff, p->n_objects * sizeof(*place)); /* PROFILE_NONE */
	for (size_t i = 0; i < d->n_objects; i++) {
		d->objects[i] = p->objects[order[i]];
		place[order[i]] = (uint32_t)i;
	}
	for (size_t i = 0; i < p->n_objects; i++)
		s->object_map[i] = place[group[i]];
	return 0;
}

static void replace_tables(struct profile *p, struct profile *draft)
{
	struct profile old = *p;

#define SWAP(array)                       \
	do {                              \
		p->array = draft->array;  \
		draft->array = old.array; \
	} while (0)
	SWAP(objects);
	SWAP(processes);
	SWAP(functions);
	SWAP(outer);
	SWAP(places);
	SWAP(stack_places);
#undef SWAP
	p->n_objects = p->cap_objects = draft->n_objects;
	p->n_processes = p->cap_processes = draft->n_processes;
	p->n_functions = p->cap_functions = draft->n_functions;
	p->n_places = draft->n_places;
}

/* Frees the room of the rows that were added to others. */
static void shrink_tables(struct profile *p)
{
	uint32_t *stack_places =
		reallocarray(p->stack_places, MAX(p->n_stacks, (size_t)1), sizeof(*stack_places));

	if (stack_places)
		p->stack_places = stack_places;
#define SHRINK(table)                                                                             \
	do {                                                                                      \
		size_t n = MAX(p->n_##table, (size_t)1);                                          \
		void *shrunk =                                                                    \
			n < p->cap_##table ? reallocarray(p->table, n, sizeof(*p->table)) : NULL; \
		if (shrunk) {                                                                     \
			p->table = shrunk;                                                        \
			p->cap_##table = n;                                                       \
		}                                                                                 \
	} while (0)
	SHRINK(stacks);
	SHRINK(streams);
	SHRINK(branches);
	SHRINK(blocks);
#undef SHRINK
}

int profile_finalize_maps(struct profile *profile, struct profile_maps *ret)
{
	_cleanup_(finalize_done) struct finalize s = { .p = profile };

	assert(!profile->finalized);

	if (finalize_processes(&s) < 0 || finalize_objects(&s) < 0 || finalize_places(&s) < 0 ||
	    finalize_functions(&s) < 0 || finalize_order_stacks(&s) < 0 ||
	    finalize_order_streams(&s) < 0)
		return -ENOMEM;
	finalize_order_branches(&s);
	finalize_order_blocks(&s);
	finalize_apply_stacks(&s, profile);
	finalize_apply_streams(&s, profile);
	finalize_apply_branches(&s, profile);
	finalize_apply_blocks(&s, profile);
	replace_tables(profile, &s.draft);
	shrink_tables(profile);
	profile->finalized = true;
	if (ret) {
		ret->objects = TAKE_PTR(s.object_map);
		ret->processes = TAKE_PTR(s.process_map);
	}
	return 0;
}

void profile_maps_done(struct profile_maps *maps)
{
	free(maps->objects);
	free(maps->processes);
}

int profile_finalize(struct profile *profile)
{
	return profile->finalized ? 0 : profile_finalize_maps(profile, NULL);
}
