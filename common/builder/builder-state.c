/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/builder-state.h"

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
	b->n_contexts = 0;
	b->n_mappings = 0;
}

void builder_state_forget_objects(struct builder *b)
{
	for (size_t i = 0; i < b->n_objects; i++) {
		b->objects[i]->index = PROFILE_NONE;
		object_unref(b->objects[i]);
	}
	b->n_objects = 0;
}
