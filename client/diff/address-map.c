/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/diff/address-map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/diff/changed-lines.h"
#include "client/diff/code-align.h"
#include "common/util/cleanup.h"

#define MAX_FRAMES 16
#define MAX_BYTES  (64u << 10) /* of a function whose code is aligned */

/* A function of one side and the function of the other side that it is aligned with. */
struct alignment {
	bool is_filled;
	struct change_detector_function match;
	uint32_t *to; /* by offset: the instruction's offset in the other function; NULL: unknown */
	size_t n_to;
	bool *line_changed; /* by offset; NULL until it is needed */
};

struct address_map {
	const struct profile_source *sources[N_SIDES];
	uint32_t *numbers[N_SIDES];            /* identities, by object */
	struct alignment *alignments[N_SIDES]; /* by function of the profile */
	struct change_detector *detector;
	struct line_map *lines; /* or NULL */
};

int address_map_new(struct address_map **ret, const struct profile_source *const sources[N_SIDES],
		    const struct object_match *objects, struct change_detector *detector,
		    struct line_map *lines)
{
	_cleanup_(address_map_freep) struct address_map *map = calloc(1, sizeof(*map));
	int r = 0;

	if (!map)
		return -ENOMEM;
	map->detector = detector;
	map->lines = lines;
	for (int side = 0; r >= 0 && side < N_SIDES; side++) {
		const struct profile *profile = sources[side]->shown;

		map->sources[side] = sources[side];
		map->alignments[side] =
			calloc(profile->n_functions + 1, sizeof(*map->alignments[side]));
		if (!map->alignments[side])
			return -ENOMEM;
		r = object_match_number(objects, side, profile, &map->numbers[side]);
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(map);
	return 0;
}

struct address_map *address_map_free(struct address_map *map)
{
	if (!map)
		return NULL;
	for (int side = 0; side < N_SIDES; side++) {
		for (size_t i = 0;
		     map->alignments[side] && i < map->sources[side]->shown->n_functions; i++) {
			free(map->alignments[side][i].to);
			free(map->alignments[side][i].line_changed);
		}
		free(map->alignments[side]);
		free(map->numbers[side]);
	}
	free(map);
	return NULL;
}

static enum side other_side(enum side side)
{
	return side == SIDE_OLD ? SIDE_NEW : SIDE_OLD;
}

/* A function's code, decoded. */
struct function_code {
	uint16_t machine;
	struct disassembly instructions;
	struct code_align_side side;
};

static void function_code_done(struct function_code *code)
{
	disassembly_done(&code->instructions);
}

/* 1; 0 where the code is not available, of an unknown machine, or its parser failed; -ENOMEM. */
static int read_code(const struct address_map *map, enum side side,
		     const struct profile_function *function, struct function_code *ret)
{
	const struct profile_source *source = map->sources[side];
	const struct profile_object *object = &source->shown->objects[function->object];
	struct disassembly_code code = { .n = function->size, .address = function->start };
	_cleanup_free_ uint8_t *bytes = NULL;
	struct fault ignored;
	int r;

	if (code.n > MAX_BYTES)
		return 0;
	bytes = malloc(code.n + 1);
	if (!bytes)
		return -ENOMEM;
	code.bytes = bytes;
	r = symbolizer_code(source->symbolizer, object, function->start, bytes, code.n,
			    &ret->machine);
	if (r < 0 || (size_t)r < code.n)
		return MIN(r, 0);
	code.machine = ret->machine;
	r = symbolizer_fixed_range(source->symbolizer, object, &code.low, &code.high);
	if (r >= 0)
		r = symbolizer_disassemble(source->symbolizer, object, &code, &ret->instructions,
					   &ignored);
	ret->side = (struct code_align_side){ &ret->instructions, code.n, code.address };
	return r == -ENOMEM ? r : r >= 0;
}

static int align_code(struct address_map *map, enum side side, struct alignment *alignment)
{
	_cleanup_(function_code_done) struct function_code own = {};
	_cleanup_(function_code_done) struct function_code other = {};
	int r;

	r = read_code(map, side, alignment->match.own, &own);
	if (r > 0)
		r = read_code(map, other_side(side), alignment->match.other, &other);
	if (r <= 0 || own.machine != other.machine)
		return MIN(r, 0);
	/* always from old to new, so that both directions agree */
	r = side == SIDE_OLD ? code_align_functions(&alignment->to, &own.side, &other.side) :
			       code_align_back(&alignment->to, &own.side, &other.side);
	alignment->n_to = own.side.n;
	return r;
}

static int get_alignment(struct address_map *map, enum side side,
			 const struct profile_function *function, struct alignment **ret,
			 struct fault *fault)
{
	size_t i = (size_t)(function - map->sources[side]->shown->functions);
	uint32_t number = map->numbers[side][function->object];
	struct alignment *alignment = &map->alignments[side][i];
	int r;

	*ret = alignment;
	if (alignment->is_filled)
		return 0;
	r = change_detector_find_function(map->detector, side, number, function, &alignment->match,
					  fault);
	if (r < 0)
		return r;
	if (alignment->match.other && alignment->match.change != CHANGE_NONE)
		r = align_code(map, side, alignment);
	alignment->is_filled = r >= 0;
	return r < 0 ? r : 0;
}

static struct changed_code code_of(const struct address_map *map, enum side side,
				   const struct alignment *alignment)
{
	const struct profile_source *source = map->sources[side];
	const struct profile_function *function = alignment->match.own;

	return (struct changed_code){
		.symbolizer = source->symbolizer,
		.object = &source->shown->objects[function->object],
		.start = function->start,
		.to = alignment->to,
		.n = alignment->n_to,
	};
}

/* An address that is looked up. */
struct search {
	struct address_map *map;
	enum side side;
	struct location at;
	bool by_line;
	struct fault *fault;
};

/* 1 if the instruction at @offset belongs to a changed line; 0; or -errno. */
static int is_line_changed(const struct search *search, struct alignment *alignment,
			   uint64_t offset)
{
	enum side side = search->side, other = other_side(side);
	struct changed_code own_code, other_code;
	struct alignment *back;
	int r;

	if (alignment->line_changed)
		return alignment->line_changed[offset];
	r = get_alignment(search->map, other, alignment->match.other, &back, search->fault);
	if (r < 0)
		return r;
	if (!back->to)
		return 0;
	own_code = code_of(search->map, side, alignment);
	other_code = code_of(search->map, other, back);
	r = changed_lines_find(&alignment->line_changed, &own_code, &other_code);
	return r < 0 ? r : alignment->line_changed[offset];
}

/* Looks the address up in the sources. 1: its line was changed; 0: *@ret has the line in the new
 * sources; -ENOENT: the sources do not have its file; another -errno. */
static int find_line(const struct search *search, struct mapped_address *ret)
{
	const struct profile_source *source = search->map->sources[search->side];
	struct source_frame frames[MAX_FRAMES];
	int n, found = -ENOENT;

	if (!search->map->lines)
		return -ENOENT;
	n = symbolizer_lines(source->symbolizer, &source->shown->objects[search->at.object],
			     search->at.offset, frames, MAX_FRAMES);
	for (int i = 0; i < n; i++) {
		struct source_line line = { frames[i].file, frames[i].line }, other = {};
		int r;

		if (!line.file || line.number == 0)
			continue;
		r = line_map_find(search->map->lines, search->side, line, &other, search->fault);
		if (r == 0)
			return 1;
		if (r < 0 && r != -ENOENT)
			return r;
		if (r > 0 && found == -ENOENT) {
			found = 0;
			ret->file = other.file;
			ret->at = search->side == SIDE_OLD ? other.number : line.number;
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

/* In a changed function. @offset is that of the address in it. */
static int find_in_changed(const struct search *search, struct alignment *alignment,
			   uint64_t offset, struct mapped_address *ret)
{
	bool is_aligned =
		alignment->to && offset < alignment->n_to && alignment->to[offset] < ALIGN_INSIDE;
	int r = -ENOENT;

	if (alignment->match.change == CHANGE_SOURCE)
		r = find_line(search, ret);
	else if (is_aligned && search->by_line)
		r = is_line_changed(search, alignment, offset);
	if (r < 0 && r != -ENOENT)
		return r;
	if (r <= 0 && is_aligned) {
		ret->file = NULL;
		ret->at = search->side == SIDE_OLD ? alignment->to[offset] : offset;
	} else if (r == 0) {
		ret->kind = MAPPED_LINE;
	} else {
		set_none(ret, search->side, offset);
	}
	return 0;
}

int address_map_find(struct address_map *map, enum side side, struct location at, bool by_line,
		     struct mapped_address *ret, struct fault *fault)
{
	const struct profile_function *function =
		profile_find_function(map->sources[side]->shown, at);
	struct alignment *alignment;
	struct search search;
	uint64_t offset;
	int r;

	memset(ret, 0, sizeof(*ret));
	ret->identity = at.object == PROFILE_NONE ? PROFILE_NONE : map->numbers[side][at.object];
	ret->at = at.offset;
	if (!function)
		return 0;
	r = get_alignment(map, side, function, &alignment, fault);
	if (r < 0)
		return r;
	offset = at.offset - function->start;
	ret->function = side == SIDE_OLD && alignment->match.other ? alignment->match.other :
								     alignment->match.own;
	ret->at = offset;
	if (alignment->match.change == CHANGE_NONE || !alignment->match.other)
		return 0;
	if (alignment->match.change == CHANGE_NAMED) {
		set_none(ret, side, offset);
		return 0;
	}
	search = (struct search){ map, side, at, by_line, fault };
	return find_in_changed(&search, alignment, offset, ret);
}

/* True if the other side has the same instructions from @first to @last and none between them. */
static bool is_whole(const struct alignment *alignment, uint64_t first, uint64_t last)
{
	if (!alignment->to)
		return true;
	if (last >= alignment->n_to)
		return false;
	for (uint64_t i = first; i <= last; i++)
		if (alignment->to[i] == ALIGN_NONE)
			return false;
	return alignment->to[last] - alignment->to[first] == last - first;
}

int address_map_find_block(struct address_map *map, enum side side,
			   const struct profile_block *block, bool by_line,
			   struct mapped_address ret[2], struct fault *fault)
{
	struct location start = { block->object, block->start },
			end = { block->object, block->end };
	const struct profile_function *function =
		profile_find_function(map->sources[side]->shown, start);
	uint64_t first, last;
	struct alignment *alignment;
	int r;

	r = address_map_find(map, side, start, by_line, &ret[0], fault);
	if (r >= 0)
		r = address_map_find(map, side, end, by_line, &ret[1], fault);
	if (r < 0 || !function || block->end - function->start >= function->size)
		return r;
	r = get_alignment(map, side, function, &alignment, fault);
	if (r < 0)
		return r;
	first = block->start - function->start;
	last = block->end - function->start;
	if (ret[0].kind != MAPPED_OFFSET || ret[1].kind != MAPPED_OFFSET ||
	    !is_whole(alignment, first, last)) {
		if (ret[0].kind == MAPPED_LINE && ret[1].kind == MAPPED_LINE)
			return 0;
		set_none(&ret[0], side, first);
		set_none(&ret[1], side, last);
	}
	return 0;
}

int address_map_find_new(struct address_map *map, struct location at, struct location *ret,
			 struct location *ret_own, struct fault *fault)
{
	const struct profile_function *function =
		profile_find_function(map->sources[SIDE_OLD]->shown, at);
	struct alignment *alignment;
	uint64_t offset, to;
	int r;

	if (!function)
		return 0;
	r = get_alignment(map, SIDE_OLD, function, &alignment, fault);
	if (r < 0 || !alignment->match.other)
		return MIN(r, 0);
	offset = to = at.offset - function->start;
	if (alignment->to) {
		offset = MIN(offset, (uint64_t)alignment->n_to - 1);
		while (offset > 0 && alignment->to[offset] >= ALIGN_INSIDE)
			offset--;
		to = alignment->to[offset];
	}
	if (to >= ALIGN_INSIDE)
		return 0;
	*ret_own = (struct location){ at.object, function->start + offset };
	*ret = (struct location){ alignment->match.other->object,
				  alignment->match.other->start + to };
	return 1;
}
