/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Looks up locations in the object cache.
 *
 * A daemon symbolizes one window after the other and must not grow with the files that it meets, so
 * the cache shrinks after each. It shrinks nowhere else, so names stay valid until then.
 */
#include "common/symbol/symbolizer.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/elf/code.h"
#include "common/elf/disassembler.h"
#include "common/elf/lines.h"
#include "common/symbol/object-cache.h"
#include "common/symbol/profile-symbolizer.h"

#define MAX_BYTES   (256UL << 20)
#define MAX_OBJECTS 4096

struct symbolizer {
	struct object_cache *cache;
	size_t max_bytes, max_code_bytes;
	struct disassembler *disassembler; /* of @machine; NULL: none yet, or none exists */
	uint16_t machine;
};

int symbolizer_new(struct symbolizer **ret, const struct symbolizer_settings *settings)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->max_bytes = settings->max_bytes ?: MAX_BYTES;
	s->max_code_bytes = settings->max_code_bytes;
	r = object_cache_new(&s->cache, settings);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
	return 0;
}

struct symbolizer *symbolizer_free(struct symbolizer *s)
{
	if (!s)
		return NULL;
	disassembler_free(s->disassembler);
	object_cache_free(s->cache);
	free(s);
	return NULL;
}

int symbolizer_find(struct symbolizer *s, const struct profile_object *object, uint64_t offset,
		    struct symbol *ret)
{
	struct symbol_entry e;
	const char *name;
	struct cached_object *c;
	size_t i;
	int r;

	r = object_cache_get(s->cache, object, &c);
	if (r < 0 || c->why)
		return r;
	i = symbol_table_find(c->symbols, offset);
	if (i == SYMBOL_TABLE_NONE)
		return 0;
	name = symbol_table_name(c->symbols, i);
	if (!name)
		return -ENOMEM;
	e = symbol_table_get(c->symbols, i);
	*ret = (struct symbol){ .start = e.start, .size = e.size, .name = name };
	return 1;
}

int symbolizer_address(struct symbolizer *s, const struct profile_object *object, uint64_t offset,
		       uint64_t *ret)
{
	struct cached_object *c;
	int r;

	r = object_cache_get(s->cache, object, &c);
	if (r < 0 || !c->file)
		return r;
	return loads_address(&c->file->loads, offset, ret) ? 1 : 0;
}

int symbolizer_offset(struct symbolizer *s, const struct profile_object *object, uint64_t address,
		      uint64_t *ret)
{
	struct cached_object *c;
	int r;

	r = object_cache_get(s->cache, object, &c);
	if (r < 0 || !c->file)
		return r;
	return loads_offset(&c->file->loads, address, ret) ? 1 : 0;
}

/* Adds the lines of one more offset to the line cache. */
static int load_line(struct symbolizer *s, const struct profile_object *object,
		     struct cached_object *c, uint64_t offset)
{
	struct source_frame frames[LINE_CACHE_MAX_FRAMES];
	const struct source_frame *found;
	struct symbol symbol;
	uint64_t address;
	int r;

	if (line_cache_find(&c->line_cache, offset, &found) >= 0)
		return 0;
	if (!loads_address(&c->file->loads, offset, &address))
		return line_cache_add(&c->line_cache, offset, frames, 0);
	r = symbolizer_find(s, object, offset, &symbol);
	if (r >= 0)
		r = lines_find(c->lines, address, r ? symbol.name : NULL, frames,
			       LINE_CACHE_MAX_FRAMES);
	return r < 0 ? r : line_cache_add(&c->line_cache, offset, frames, (size_t)r);
}

/* 0 and *@ret, which may have no lines; or -ENOMEM. */
static int get_lines(struct symbolizer *s, const struct profile_object *object,
		     struct cached_object **ret)
{
	int r = object_cache_get(s->cache, object, ret);

	return r < 0 ? r : object_cache_seek_lines(s->cache, object, *ret);
}

int symbolizer_load_lines(struct symbolizer *s, const struct profile_object *object,
			  const uint64_t *offsets, size_t n)
{
	struct cached_object *c;
	int r = get_lines(s, object, &c);

	for (size_t i = 0; r >= 0 && c->lines && i < n; i++)
		r = load_line(s, object, c, offsets[i]);
	return r;
}

int symbolizer_lines(struct symbolizer *s, const struct profile_object *object, uint64_t offset,
		     struct source_frame *ret, size_t n)
{
	const struct source_frame *frames;
	struct cached_object *c;
	int r = get_lines(s, object, &c);

	if (r >= 0 && c->lines)
		r = load_line(s, object, c, offset);
	if (r < 0 || !c->lines)
		return r;
	r = line_cache_find(&c->line_cache, offset, &frames);
	if (r <= 0)
		return r;
	r = (int)MIN((size_t)r, n);
	memcpy(ret, frames, (size_t)r * sizeof(*ret));
	return r;
}

int symbolizer_code(struct symbolizer *s, const struct profile_object *object, uint64_t offset,
		    void *ret, size_t n, uint16_t *ret_machine)
{
	struct cached_object *c = object_cache_find(s->cache, object);
	int r = 0;

	if (!c) /* code needs no symbols, so dropped ones are not read again */
		r = object_cache_get(s->cache, object, &c);
	if (!r)
		r = object_cache_seek_code(s->cache, object, c);
	if (r < 0 || !c->code)
		return r;
	*ret_machine = code_machine(c->code);
	return (int)code_read(c->code, offset, ret, MIN(n, (size_t)INT_MAX));
}

/* 1; 0 for an unknown machine; -ENOMEM. */
static int get_disassembler(struct symbolizer *s, uint16_t machine)
{
	int r;

	if (s->machine == machine)
		return s->disassembler != NULL;
	s->disassembler = disassembler_free(s->disassembler);
	s->machine = machine;
	r = disassembler_new(&s->disassembler, machine);
	return r == -EOPNOTSUPP ? 0 : r < 0 ? r : 1;
}

static int fill_branch(struct symbolizer *s, const struct profile_object *object,
		       struct symbolizer_branch *branch)
{
	struct instruction instruction;
	uint8_t bytes[INSTRUCTION_MAX];
	uint16_t machine;
	int n, r;

	branch->is_known = false;
	n = symbolizer_code(s, object, branch->offset, bytes, sizeof(bytes), &machine);
	if (n <= 0)
		return n;
	r = get_disassembler(s, machine);
	if (r <= 0)
		return r;
	branch->is_known = disassembler_decode(s->disassembler, bytes, (size_t)n, branch->offset,
					       &instruction);
	branch->kind = instruction.kind;
	return 0;
}

int symbolizer_branches(struct symbolizer *s, const struct profile_object *object,
			struct symbolizer_branch *branches, size_t n)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = fill_branch(s, object, &branches[i]);
	return r;
}

int symbolizer_disassemble(struct symbolizer *s, const struct disassembly_code *code,
			   struct disassembly *ret)
{
	int r = get_disassembler(s, code->machine);

	if (r <= 0)
		return r < 0 ? r : -EOPNOTSUPP;
	return disassembly_decode(ret, s->disassembler, code);
}

void symbolizer_close_code(struct symbolizer *s, const struct profile_object *object)
{
	struct cached_object *c = object_cache_find(s->cache, object);

	if (c)
		object_cache_close_code(c);
}

int symbolizer_fixed_range(struct symbolizer *s, const struct profile_object *object,
			   uint64_t *ret_low, uint64_t *ret_high)
{
	struct cached_object *c;
	int r;

	*ret_low = *ret_high = 0;
	r = object_cache_get(s->cache, object, &c);
	if (r >= 0 && c->file)
		loads_fixed_range(&c->file->loads, ret_low, ret_high);
	return r;
}

void symbolizer_for_each_problem(const struct symbolizer *s, symbolizer_problem_handler handler,
				 void *userdata)
{
	object_cache_for_each_problem(s->cache, handler, userdata);
}

int symbolizer_add_functions(struct symbolizer *s, struct profile *profile)
{
	int r = profile_symbolizer_run(s->cache, s->max_bytes, s->max_code_bytes, profile);

	object_cache_shrink(s->cache, s->max_bytes, MAX_OBJECTS);
	return r;
}
