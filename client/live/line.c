/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/live/line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/render/stack-text.h"
#include "client/render/stream-lines.h"
#include "client/top/share-identity.h"
#include "common/util/fnv.h"

bool live_line_has_paths(const struct top *top)
{
	return top && (top->stacks || top->by == VIEW_STREAM) && top->n_rows > 0;
}

/* A blank line, a line of numbers, and the frames; in full the branches, and a note on pruned ones.
 */
static size_t count_stream(const struct top *top, size_t i)
{
	struct view_stream_step steps[VIEW_STREAM_MAX_ROWS];
	const struct view_stream *stream;

	if (top->line_streams)
		return 2 +
		       stream_lines_count(top->line_streams->tree, top->line_streams->rows[i].node);
	stream = &top->streams->rows[i];
	return 2 + view_stream_path(top->streams, stream->node, steps) + (stream->pruned > 0);
}

size_t live_line_count_of(const struct top *top, size_t i)
{
	if (!live_line_has_paths(top))
		return 1;
	return top->stacks ? stack_text_lines(top->stacks, &top->stacks->rows[i]) :
			     count_stream(top, i);
}

size_t live_line_count(const struct top *top)
{
	size_t n = 0;

	if (!top || !live_line_has_paths(top))
		return top ? top->n_rows : 0;
	for (size_t i = 0; i < top->n_rows; i++)
		n += live_line_count_of(top, i);
	return n;
}

/* The row of @line, and the line's number within it. False beyond the last row. */
static bool find_row(const struct top *top, size_t line, size_t *ret_row, size_t *ret_within)
{
	size_t row = 0;

	if (!live_line_has_paths(top))
		row = line, line = 0;
	else
		for (size_t n; row < top->n_rows && line >= (n = live_line_count_of(top, row));
		     row++)
			line -= n;
	*ret_row = row;
	*ret_within = line;
	return row < top->n_rows;
}

static uint64_t add_stack(uint64_t hash, const struct top *top, const struct view_stack *stack)
{
	const struct profile *profile = top->source->shown;

	hash = identity_add_location(hash, profile, stack->leaf);
	for (uint32_t i = stack->caller; i != PROFILE_NONE; i = top->stacks->callers[i].parent)
		hash = identity_add_location(hash, profile, top->stacks->callers[i].frame);
	return hash;
}

static uint64_t add_stream(uint64_t hash, const struct top *top, size_t row)
{
	const struct profile *profile = top->source->shown;
	uint32_t path[STREAM_DEPTH_MAX];
	size_t n;

	if (top->line_streams) {
		n = stream_tree_path(top->line_streams->tree, top->line_streams->rows[row].node,
				     path);
		for (size_t i = 0; i < n; i++)
			hash = identity_add_location(
				hash, profile,
				stream_tree_node(top->line_streams->tree, path[i])
					->ends[SIDE_OLD]
					.at);
		return hash;
	}
	n = view_stream_nodes(top->streams, top->streams->rows[row].node, path);
	for (size_t i = 0; i < n; i++) {
		hash = identity_add_location(hash, profile, top->streams->nodes[path[i]].from);
		hash = identity_add_location(hash, profile, top->streams->nodes[path[i]].to);
	}
	return hash;
}

uint64_t live_line_identity_of_path(uint64_t hash, const struct view_tree *tree, size_t row,
				    const struct profile *profile)
{
	for (uint32_t i = (uint32_t)row; i != PROFILE_NONE; i = tree->rows[i].parent)
		hash = identity_add_location(hash, profile, tree->rows[i].frame);
	return hash;
}

static uint64_t identify(const struct top *top, size_t row)
{
	const struct profile *profile = top->source->shown;
	const struct profile_block *block;
	uint64_t hash = FNV_BASIS;

	if (top->tree)
		return live_line_identity_of_path(hash, top->tree, row, profile);
	switch (top->by) {
	case VIEW_STACK:
		return add_stack(hash, top, &top->stacks->rows[row]);
	case VIEW_STREAM:
		return add_stream(hash, top, row);
	case VIEW_BRANCH:
	case VIEW_BRANCH_SITE:
		hash = identity_add_location(hash, profile, top->branches[row].from);
		return identity_add_location(hash, profile, top->branches[row].to);
	case VIEW_BLOCK:
		block = &top->blocks[row];
		hash = identity_add_location(hash, profile,
					     (struct location){ block->object, block->start });
		return fnv_add(hash, &block->end, sizeof(block->end));
	default:
		return share_identity(profile, top->by, &top->shares->rows[row].key);
	}
}

uint64_t live_line_identity(const struct top *top, size_t line)
{
	size_t row, within;
	uint64_t hash;

	if (!top || !find_row(top, line, &row, &within))
		return 1;
	hash = identify(top, row);
	hash = within ? fnv_add(hash, &within, sizeof(within)) : hash;
	return hash ?: 1;
}

size_t live_line_find(const struct top *top, uint64_t identity)
{
	size_t line = 0;

	for (size_t row = 0; top && row < top->n_rows; row++) {
		uint64_t hash = identify(top, row);
		size_t n = live_line_count_of(top, row);

		for (size_t i = 0; i < n; i++, line++)
			if ((i ? fnv_add(hash, &i, sizeof(i)) : hash) == identity)
				return line;
	}
	return SIZE_MAX;
}

/* The frame of a line of a stack: the leaf also of those above it. */
static struct location frame_of(const struct view_stacks *stacks, const struct view_stack *stack,
				size_t within)
{
	uint32_t caller = stack->caller;

	if (within <= 2)
		return stack->leaf;
	for (within -= 3; within > 0 && caller != PROFILE_NONE; within--)
		caller = stacks->callers[caller].parent;
	return caller == PROFILE_NONE ? stack->leaf : stacks->callers[caller].frame;
}

/* The newest frame also for the lines above it. */
static struct location place_of(const struct top *top, size_t row, size_t within)
{
	struct view_stream_step steps[VIEW_STREAM_MAX_ROWS];
	size_t n, at = within > 2 ? within - 2 : 0;

	if (top->line_streams)
		return stream_lines_at(top->line_streams->tree, top->line_streams->rows[row].node,
				       at);
	n = view_stream_path(top->streams, top->streams->rows[row].node, steps);
	return steps[at < n ? at : n - 1].from;
}

/* The hottest code of a source line: that it leads to the line's function. */
static struct location location_of_line(const struct top *top, const struct share_key *key)
{
	const struct profile *profile = top->source->shown;
	struct places places = top->places;
	struct location found = { .object = PROFILE_NONE };
	uint64_t most = 0;

	places.lines = true;
	for (size_t i = 0; key->file && i < profile->n_stacks; i++) {
		const struct profile_stack *stack = &profile->stacks[i];
		struct place place;

		if (stack->frame.object != key->object || stack->samples <= most)
			continue;
		place = place_find(&places, stack->frame);
		if (!place.file || place.line != key->line || strcmp(place.file, key->file) != 0)
			continue;
		most = stack->samples;
		found = stack->frame;
	}
	return found;
}

static struct location location_of(const struct top *top, size_t row, size_t within)
{
	const struct share_key *key;

	if (top->tree)
		return top->tree->rows[row].frame;
	switch (top->by) {
	case VIEW_STACK:
		return profile_place_frame(top->source->shown,
					   frame_of(top->stacks, &top->stacks->rows[row], within));
	case VIEW_STREAM:
		return place_of(top, row, within);
	case VIEW_BRANCH:
	case VIEW_BRANCH_SITE:
		return top->branches[row].from;
	case VIEW_BLOCK:
		return (struct location){ top->blocks[row].object, top->blocks[row].start };
	case VIEW_LINE:
		return location_of_line(top, &top->shares->rows[row].key);
	default:
		key = &top->shares->rows[row].key;
		return (struct location){ key->symbol ? key->object : PROFILE_NONE, key->start };
	}
}

/* Code without a symbol is that of its object. */
static bool lead_to_object(const struct top *top, const struct share_key *key,
			   struct live_subject *ret)
{
	if (top->by != VIEW_FUNCTION || key->symbol || key->object == PROFILE_NONE)
		return false;
	memset(ret, 0, sizeof(*ret));
	return snprintf(ret->object, sizeof(ret->object), "%s",
			top->source->shown->objects[key->object].path) < (int)sizeof(ret->object);
}

/* A value with quotes, or without a name, cannot be a filter. */
static enum live_lead filter_by(char ret[LIVE_FILTER_MAX], const char *name, const char *value)
{
	const char *quote;

	if (!value || !*value || strchr(value, '"'))
		return LIVE_LEAD_NONE;
	quote = strchr(value, ' ') ? "\"" : "";
	return snprintf(ret, LIVE_FILTER_MAX, "%s=%s%s%s", name, quote, value, quote) <
			       LIVE_FILTER_MAX ?
		       LIVE_LEAD_FILTER :
		       LIVE_LEAD_NONE;
}

static enum live_lead lead_to_filter(const struct top *top, const struct share_key *key,
				     char ret[LIVE_FILTER_MAX])
{
	const struct profile *profile = top->source->shown;
	char number[16];

	switch (top->by) {
	case VIEW_PROCESS:
		if (key->process == PROFILE_NONE || profile->processes[key->process].pid < 0)
			return LIVE_LEAD_NONE;
		snprintf(number, sizeof(number), "%" PRId32, profile->processes[key->process].pid);
		return filter_by(ret, "pid", number);
	case VIEW_COMM:
		return filter_by(ret, "comm", key->group);
	case VIEW_UNIT:
		return filter_by(ret, "unit", key->group);
	case VIEW_CONTAINER:
		return filter_by(ret, "container", key->group);
	case VIEW_USER:
		return filter_by(ret, "uid", key->group);
	case VIEW_OBJECT:
		return key->object == PROFILE_NONE ?
			       LIVE_LEAD_NONE :
			       filter_by(ret, "object", profile->objects[key->object].path);
	default:
		return LIVE_LEAD_NONE;
	}
}

enum live_lead live_line_lead(const struct top *top, size_t line, struct live_subject *ret,
			      char ret_filter[LIVE_FILTER_MAX])
{
	const struct share_key *key;
	struct location at;
	size_t row, within;

	if (!top || !find_row(top, line, &row, &within))
		return LIVE_LEAD_NONE;
	key = top->shares ? &top->shares->rows[row].key : NULL;
	if (key && top->by != VIEW_FUNCTION && top->by != VIEW_LINE)
		return lead_to_filter(top, key, ret_filter);
	if (key && lead_to_object(top, key, ret))
		return LIVE_LEAD_FUNCTION;
	at = location_of(top, row, within);
	return live_subject_set(ret, top->source->shown, at) ? LIVE_LEAD_FUNCTION : LIVE_LEAD_NONE;
}
