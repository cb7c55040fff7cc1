/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/flush-locate.h"

#include <errno.h>

#include "common/profile/spread.h"
#include "common/util/array.h"

/* The object's index in the profile, which it gets the first time. */
static int64_t number_object(struct flush *f, const struct mapping *m)
{
	struct object *object = m->object;
	struct builder *b = f->builder;
	int64_t index;

	if (object->index != PROFILE_NONE)
		return object->index;
	if (ARRAY_RESERVE(&b->objects, &b->cap_objects, b->n_objects + 1) < 0)
		return -ENOMEM;
	index = profile_add_object(f->profile, &object->what);
	if (index < 0)
		return index;
	object->index = (uint32_t)index;
	b->objects[b->n_objects++] = object_ref(object);
	if (object->function) {
		struct profile_function function = { .object = object->index,
						     .size = m->end - m->start,
						     .name = object->function };

		if (profile_add_function(f->profile, &function) < 0)
			return -ENOMEM;
	}
	return index;
}

/* Mostly it is the one found before. Those of the kernel may move while they are searched. */
static const struct mapping *find_mapping(struct flush *f, uint32_t context, uint64_t address)
{
	const struct mapping *m = f->found;

	if (m && f->found_in == context && !address_is_kernel(address) &&
	    address - m->start < m->end - m->start)
		return m;
	m = processes_locate(f->processes, f->builder->contexts[context], address);
	f->found = address_is_kernel(address) ? NULL : m;
	f->found_in = context;
	return m;
}

int flush_locate(struct flush *f, uint32_t context, uint64_t address, struct location *ret)
{
	const struct mapping *m = find_mapping(f, context, address);
	int64_t object;

	if (!m) {
		*ret = (struct location){ PROFILE_NONE, address };
		return 0;
	}
	object = number_object(f, m);
	if (object < 0)
		return (int)object;
	*ret = (struct location){ (uint32_t)object, address + m->shift };
	return 0;
}

uint64_t flush_surplus(const struct flush *f, uint32_t context, uint64_t n)
{
	bool is_cold = f->builder->contexts[context]->cold_context == context;

	return is_cold ? n / SPREAD_COLD_WEIGHT * (SPREAD_COLD_WEIGHT - 1) : 0;
}
