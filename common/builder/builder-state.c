/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/builder-state.h"

#include <string.h>

int builder_state_wait(struct builder *b)
{
	int r = stack_queue_flush(&b->stack_queue, &b->stacks);

	if (r >= 0)
		r = stream_queue_flush(&b->queue, &b->streams);
	return r < 0 || !b->thread ? r : branch_thread_wait(b->thread);
}

void builder_state_forget_contexts(struct builder *b)
{
	for (size_t i = 0; i < b->n_contexts; i++) {
		b->contexts[i]->context = b->contexts[i]->cold_context = PROFILE_NONE;
		process_context_unref(b->contexts[i]);
	}
	b->n_contexts = b->n_processes = 0;
	b->n_mappings = 0;
}

static void update_build_id(struct profile *p, const struct object *object)
{
	struct profile_object *row = &p->objects[object->index];

	memcpy(row->build_id, object->what.build_id, object->what.n_build_id);
	memset(row->build_id + object->what.n_build_id, 0,
	       PROFILE_BUILD_ID_MAX - object->what.n_build_id);
	row->n_build_id = object->what.n_build_id;
}

void builder_state_forget_objects(struct builder *b)
{
	for (size_t i = 0; i < b->n_objects; i++) {
		update_build_id(b->flushed, b->objects[i]);
		b->objects[i]->index = PROFILE_NONE;
		object_unref(b->objects[i]);
	}
	b->n_objects = 0;
}

/* Objects without locations are in no row any more. */
void builder_state_map_objects(struct builder *b, const uint32_t *map)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n_objects; i++) {
		struct object *object = b->objects[i];

		object->index = map[object->index];
		if (object->index == PROFILE_NONE)
			object_unref(object);
		else
			b->objects[n++] = object;
	}
	b->n_objects = n;
}
