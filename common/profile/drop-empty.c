/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/profile/drop-empty.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/cleanup.h"

/* Numbers the rows marked in @kept; the others are PROFILE_NONE. Returns how many are marked. */
static size_t number(uint32_t *kept, size_t n)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++)
		kept[i] = kept[i] ? (uint32_t)m++ : PROFILE_NONE;
	return m;
}

static int drop_stacks(struct profile *p)
{
	_cleanup_free_ uint32_t *kept = calloc(p->n_stacks ?: 1, sizeof(*kept));

	if (!kept)
		return -ENOMEM;
	for (size_t i = p->n_stacks; i-- > 0;) {
		kept[i] |= p->stacks[i].samples > 0;
		if (kept[i] && p->stacks[i].parent != PROFILE_NONE)
			kept[p->stacks[i].parent] = true;
	}
	number(kept, p->n_stacks);
	for (size_t i = 0, n = p->n_stacks; i < n; i++) {
		struct profile_stack row = p->stacks[i];

		if (i == 0)
			p->n_stacks = 0;
		if (kept[i] == PROFILE_NONE)
			continue;
		if (row.parent != PROFILE_NONE)
			row.parent = kept[row.parent];
		p->stacks[p->n_stacks++] = row;
	}
	return 0;
}

static int drop_streams(struct profile *p)
{
	_cleanup_free_ uint32_t *kept = calloc(p->n_streams ?: 1, sizeof(*kept));

	if (!kept)
		return -ENOMEM;
	for (size_t i = p->n_streams; i-- > 0;) {
		kept[i] |= p->streams[i].hits > 0;
		if (kept[i] && p->streams[i].parent != PROFILE_NONE)
			kept[p->streams[i].parent] = true;
	}
	number(kept, p->n_streams);
	for (size_t i = 0, n = p->n_streams; i < n; i++) {
		struct profile_stream row = p->streams[i];

		if (i == 0)
			p->n_streams = 0;
		if (kept[i] == PROFILE_NONE)
			continue;
		if (row.parent != PROFILE_NONE)
			row.parent = kept[row.parent];
		p->streams[p->n_streams++] = row;
	}
	return 0;
}

static void drop_rows(struct profile *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_branches; i++)
		if (p->branches[i].taken > 0)
			p->branches[n++] = p->branches[i];
	p->n_branches = n;
	n = 0;
	for (size_t i = 0; i < p->n_blocks; i++)
		if (p->blocks[i].runs > 0)
			p->blocks[n++] = p->blocks[i];
	p->n_blocks = n;
}

static uint32_t new_index(const uint32_t *kept, uint32_t i)
{
	return i == PROFILE_NONE ? PROFILE_NONE : kept[i];
}

/* Those without samples to which no row refers. */
static int drop_processes(struct profile *p)
{
	_cleanup_free_ uint32_t *kept = calloc(p->n_processes + 1, sizeof(*kept));
	size_t n;

	if (!kept)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_processes; i++)
		kept[i] = p->processes[i].samples > 0;
#define X(rows)                                         \
	for (size_t i = 0; i < p->n_##rows; i++)        \
		if (p->rows[i].process != PROFILE_NONE) \
			kept[p->rows[i].process] = true;
	X(stacks)
	X(streams)
	X(branches)
	X(blocks)
#undef X
	n = number(kept, p->n_processes);
	for (size_t i = 0; i < p->n_processes; i++)
		if (kept[i] != PROFILE_NONE)
			p->processes[kept[i]] = p->processes[i];
	p->n_processes = n;
#define X(rows)                                  \
	for (size_t i = 0; i < p->n_##rows; i++) \
		p->rows[i].process = new_index(kept, p->rows[i].process);
	X(stacks)
	X(streams)
	X(branches)
	X(blocks)
#undef X
	return 0;
}

int profile_drop_empty(struct profile *profile)
{
	int r;

	profile->finalized = false;
	r = drop_stacks(profile);
	if (r >= 0)
		r = drop_streams(profile);
	if (r < 0)
		return r;
	drop_rows(profile);
	return drop_processes(profile);
}
