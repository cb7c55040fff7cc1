/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/diff/address-map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/diff/changed-lines.h"
#include "client/diff/code-align.h"
#include "common/util/cleanup.h"

#define MAX_FRAMES 16
#define MAX_BYTES  (64u << 10) /* of a function whose instructions are matched */

/* A function of one side, as far as it was asked for. */
struct half {
	bool sought;
	struct change_detector_function function;
	uint32_t *to; /* where its instructions are in its counterpart; NULL: unknown */
	size_t n_to;
	bool *line_changed; /* likewise, once it was asked for */
};

struct address_map {
	const struct profile_source *sources[N_SIDES];
	uint32_t *numbers[N_SIDES];   /* of things, by object */
	struct half *halves[N_SIDES]; /* by function */
	struct change_detector *changes;
	struct line_map *map;
	struct disassembler *disassembler;
	uint16_t machine; /* it is of */
};

int address_map_new(struct address_map **ret, const struct profile_source *const sources[N_SIDES],
		    const struct object_match *pairing, struct change_detector *changes,
		    struct line_map *map)
{
	_cleanup_(address_map_freep) struct address_map *c = calloc(1, sizeof(*c));
	int r = 0;

	if (!c)
		return -ENOMEM;
	c->changes = changes;
	c->map = map;
	for (int side = 0; r >= 0 && side < N_SIDES; side++) {
		const struct profile *profile = sources[side]->shown;

		c->sources[side] = sources[side];
		c->halves[side] = calloc(profile->n_functions + 1, sizeof(*c->halves[side]));
		if (!c->halves[side])
			return -ENOMEM;
		r = object_match_number(pairing, side, profile, &c->numbers[side]);
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(c);
	return 0;
}

struct address_map *address_map_free(struct address_map *c)
{
	if (!c)
		return NULL;
	for (int side = 0; side < N_SIDES; side++) {
		for (size_t i = 0; c->halves[side] && i < c->sources[side]->shown->n_functions;
		     i++) {
			free(c->halves[side][i].to);
			free(c->halves[side][i].line_changed);
		}
		free(c->halves[side]);
		free(c->numbers[side]);
	}
	disassembler_free(c->disassembler);
	free(c);
	return NULL;
}

static enum side other_side(enum side side)
{
	return side == SIDE_OLD ? SIDE_NEW : SIDE_OLD;
}

/* All of a function's code, on the heap in *@ret_bytes. 1; 0 where it is not at hand; -ENOMEM. */
static int read_code(const struct address_map *c, enum side side,
		     const struct profile_function *function, struct code_align_side *ret,
		     uint8_t **ret_bytes, uint16_t *ret_machine)
{
	const struct profile_source *source = c->sources[side];
	const struct profile_object *object = &source->shown->objects[function->object];
	size_t n = function->size;
	int r;

	if (n > MAX_BYTES)
		return 0;
	*ret_bytes = malloc(n + 1);
	if (!*ret_bytes)
		return -ENOMEM;
	r = symbolizer_code(source->symbolizer, object, function->start, *ret_bytes, n,
			    ret_machine);
	if (r < 0 || (size_t)r < n)
		return MIN(r, 0);
	*ret = (struct code_align_side){ .bytes = *ret_bytes, .n = n, .address = function->start };
	r = symbolizer_fixed_range(source->symbolizer, object, &ret->low, &ret->high);
	return r < 0 ? r : 1;
}

/* 1, 0 for a machine that is not known, -ENOMEM. */
static int get_disassembler(struct address_map *c, uint16_t machine)
{
	int r;

	if (c->disassembler && c->machine == machine)
		return 1;
	c->disassembler = disassembler_free(c->disassembler);
	c->machine = machine;
	r = disassembler_new(&c->disassembler, machine);
	return r == -EOPNOTSUPP ? 0 : r < 0 ? r : 1;
}

static int align_half(struct address_map *c, enum side side, struct half *half)
{
	_cleanup_free_ uint8_t *own_bytes = NULL;
	_cleanup_free_ uint8_t *other_bytes = NULL;
	struct code_align_side own, other;
	uint16_t own_machine = 0, other_machine = 0;
	int r;

	r = read_code(c, side, half->function.own, &own, &own_bytes, &own_machine);
	if (r > 0)
		r = read_code(c, other_side(side), half->function.other, &other, &other_bytes,
			      &other_machine);
	if (r > 0)
		r = own_machine == other_machine ? get_disassembler(c, own_machine) : 0;
	if (r <= 0)
		return r;
	/* always from old to new, so that both ways agree */
	r = side == SIDE_OLD ? code_align_functions(&half->to, c->disassembler, &own, &other) :
			       code_align_back(&half->to, c->disassembler, &own, &other);
	half->n_to = own.n;
	return r;
}

static int get_half(struct address_map *c, enum side side, const struct profile_function *function,
		    struct half **ret, struct fault *fault)
{
	size_t i = (size_t)(function - c->sources[side]->shown->functions);
	uint32_t number = c->numbers[side][function->object];
	struct half *half = &c->halves[side][i];
	int r;

	*ret = half;
	if (half->sought)
		return 0;
	r = change_detector_find_function(c->changes, side, number, function, &half->function,
					  fault);
	if (r < 0)
		return r;
	if (half->function.other &&
	    (half->function.change == CHANGE_CODE || half->function.change == CHANGE_SOURCE))
		r = align_half(c, side, half);
	half->sought = r >= 0;
	return r < 0 ? r : 0;
}

static struct changed_code code_of(const struct address_map *c, enum side side,
				   const struct half *half)
{
	const struct profile_source *source = c->sources[side];
	const struct profile_function *function = half->function.own;

	return (struct changed_code){
		.symbolizer = source->symbolizer,
		.object = &source->shown->objects[function->object],
		.start = function->start,
		.to = half->to,
		.n = half->n_to,
	};
}

/* Whether what is at @offset is of a changed line: 1 or 0, or -errno. */
static int is_line_changed(struct address_map *c, enum side side, struct half *half,
			   uint64_t offset, struct fault *fault)
{
	struct changed_code own, other;
	struct half *counterpart;
	int r = 0;

	if (half->line_changed)
		return half->line_changed[offset];
	r = get_half(c, other_side(side), half->function.other, &counterpart, fault);
	if (r < 0)
		return r;
	if (!counterpart->to)
		return 0;
	own = code_of(c, side, half);
	other = code_of(c, other_side(side), counterpart);
	r = changed_lines_find(&half->line_changed, &own, &other);
	return r < 0 ? r : half->line_changed[offset];
}

/* What of the source at a place was changed: 1; 0 and the line in *@ret; -ENOENT: nothing is known;
 * -errno. */
static int find_line(struct address_map *c, enum side side, struct location at,
		     struct mapped_address *ret, struct fault *fault)
{
	const struct profile_source *source = c->sources[side];
	struct source_frame frames[MAX_FRAMES];
	int n, found = -ENOENT;

	if (!c->map)
		return -ENOENT;
	n = symbolizer_lines(source->symbolizer, &source->shown->objects[at.object], at.offset,
			     frames, MAX_FRAMES);
	for (int i = 0; i < n; i++) {
		uint32_t line = 0;
		const char *file;
		int r;

		if (!frames[i].file || frames[i].line == 0)
			continue;
		r = line_map_find(c->map, side, frames[i].file, frames[i].line, &file, &line,
				  fault);
		if (r == 0)
			return 1;
		if (r < 0 && r != -ENOENT)
			return r;
		if (r > 0 && found == -ENOENT) {
			found = 0;
			ret->file = file;
			ret->at = side == SIDE_OLD ? line : frames[i].line;
		}
	}
	return n < 0 ? n : found;
}

static void set_none(struct mapped_address *ret, enum side side, uint64_t offset)
{
	ret->kind = MAPPED_NONE;
	ret->side = (uint16_t)side;
	ret->file = NULL;
	ret->at = offset;
}

/* In a function that was changed. */
static int find_in_changed(struct address_map *c, enum side side, struct location at,
			   struct half *half, uint64_t offset, bool by_line,
			   struct mapped_address *ret, struct fault *fault)
{
	bool is_aligned = half->to && offset < half->n_to && half->to[offset] < ALIGN_INSIDE;
	int r = -ENOENT;

	if (half->function.change == CHANGE_SOURCE)
		r = find_line(c, side, at, ret, fault);
	else if (is_aligned && by_line)
		r = is_line_changed(c, side, half, offset, fault);
	if (r < 0 && r != -ENOENT)
		return r;
	if (r <= 0 && is_aligned) {
		ret->file = NULL;
		ret->at = side == SIDE_OLD ? half->to[offset] : offset;
	} else if (r == 0) {
		ret->kind = MAPPED_LINE;
	} else {
		set_none(ret, side, offset);
	}
	return 0;
}

int address_map_find(struct address_map *c, enum side side, struct location at, bool by_line,
		     struct mapped_address *ret, struct fault *fault)
{
	const struct profile_function *function =
		profile_find_function(c->sources[side]->shown, at);
	struct half *half;
	uint64_t offset;
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->thing = at.object == PROFILE_NONE ? PROFILE_NONE : c->numbers[side][at.object];
	ret->at = at.offset;
	if (!function)
		return 0;
	r = get_half(c, side, function, &half, fault);
	if (r < 0)
		return r;
	offset = at.offset - function->start;
	ret->function = side == SIDE_OLD && half->function.other ? half->function.other :
								   half->function.own;
	ret->at = offset;
	if (half->function.change == CHANGE_NONE || !half->function.other)
		return 0;
	if (half->function.change == CHANGE_NAMED) {
		set_none(ret, side, offset);
		return 0;
	}
	return find_in_changed(c, side, at, half, offset, by_line, ret, fault);
}

/* True if every instruction from @first to @last is the same on the other side, with none between.
 */
static bool is_whole(const struct half *half, uint64_t first, uint64_t last)
{
	if (!half->to)
		return true;
	if (last >= half->n_to)
		return false;
	for (uint64_t i = first; i <= last; i++)
		if (half->to[i] == ALIGN_NONE)
			return false;
	return half->to[last] - half->to[first] == last - first;
}

int address_map_find_block(struct address_map *c, enum side side, const struct profile_block *block,
			   bool by_line, struct mapped_address ret[2], struct fault *fault)
{
	struct location start = { block->object, block->start },
			end = { block->object, block->end };
	const struct profile_function *function =
		profile_find_function(c->sources[side]->shown, start);
	uint64_t first, last;
	struct half *half;
	int r;

	r = address_map_find(c, side, start, by_line, &ret[0], fault);
	if (r >= 0)
		r = address_map_find(c, side, end, by_line, &ret[1], fault);
	if (r < 0 || !function || block->end - function->start >= function->size)
		return r;
	r = get_half(c, side, function, &half, fault);
	if (r < 0)
		return r;
	first = block->start - function->start;
	last = block->end - function->start;
	if (ret[0].kind != MAPPED_OFFSET || ret[1].kind != MAPPED_OFFSET ||
	    !is_whole(half, first, last)) {
		if (ret[0].kind == MAPPED_LINE && ret[1].kind == MAPPED_LINE)
			return 0;
		set_none(&ret[0], side, first);
		set_none(&ret[1], side, last);
	}
	return 0;
}
