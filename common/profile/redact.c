/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The load address of the kernel is a secret (KASLR), which the sysctl kernel.kptr_restrict guards.
 * The daemon may read it, its callers may not. All kernel addresses become the lowest one.
 */
#include "common/profile/redact.h"

#include <errno.h>

#define KERNEL_ADDRESSES (1ULL << 63)

static uint64_t hide(const struct profile *p, uint32_t object, uint64_t offset)
{
	bool is_address = object == PROFILE_NONE || p->objects[object].kind == OBJECT_MEMORY;

	return is_address && offset >= KERNEL_ADDRESSES ? KERNEL_ADDRESSES : offset;
}

uint64_t profile_redact_offset(const struct profile *profile, struct location at)
{
	return hide(profile, at.object, at.offset);
}

int profile_redact(struct profile **profile)
{
	struct profile *p = *profile, *redacted;
	const struct profile *parts[] = { p };
	int r;

	r = profile_merge(&redacted, parts, 1);
	if (r < 0)
		return r;
	p = redacted;
	for (size_t i = 0; i < p->n_objects; i++)
		p->objects[i].base = 0;
	for (size_t i = 0; i < p->n_functions; i++)
		p->functions[i].start = hide(p, p->functions[i].object, p->functions[i].start);
	for (size_t i = 0; i < p->n_stacks; i++)
		p->stacks[i].frame.offset =
			hide(p, p->stacks[i].frame.object, p->stacks[i].frame.offset);
	for (size_t i = 0; i < p->n_streams; i++) {
		struct profile_stream *s = &p->streams[i];

		s->from.offset = hide(p, s->from.object, s->from.offset);
		s->to.offset = hide(p, s->to.object, s->to.offset);
	}
	for (size_t i = 0; i < p->n_branches; i++) {
		struct profile_branch *b = &p->branches[i];

		b->from.offset = hide(p, b->from.object, b->from.offset);
		b->to.offset = hide(p, b->to.object, b->to.offset);
	}
	for (size_t i = 0; i < p->n_blocks; i++) {
		struct profile_block *b = &p->blocks[i];

		b->start = hide(p, b->object, b->start);
		b->end = hide(p, b->object, b->end);
	}

	/* merging once more adds up the rows that became equal, and sorts */
	parts[0] = p;
	r = profile_merge(&redacted, parts, 1);
	profile_free(p);
	if (r < 0)
		return r;
	profile_free(*profile);
	*profile = redacted;
	return 0;
}
