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

#include "common/elf/code.h"
#include "common/elf/lines.h"
#include "common/symbol/object-cache.h"
#include "common/symbol/profile-symbolizer.h"

#define MAX_BYTES   (256UL << 20)
#define MAX_OBJECTS 4096

struct symbolizer {
	struct object_cache *cache;
	size_t max_bytes, max_code_bytes;
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

int symbolizer_lines(struct symbolizer *s, const struct profile_object *object, uint64_t offset,
		     struct source_frame *ret, size_t n)
{
	struct symbol symbol;
	uint64_t address;
	struct cached_object *c;
	int r;

	r = object_cache_get(s->cache, object, &c);
	if (!r)
		r = object_cache_seek_lines(s->cache, object, c);
	if (r < 0 || !c->lines || !loads_address(&c->file->loads, offset, &address))
		return r;
	r = symbolizer_find(s, object, offset, &symbol);
	return r < 0 ? r : lines_find(c->lines, address, r ? symbol.name : NULL, ret, n);
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
