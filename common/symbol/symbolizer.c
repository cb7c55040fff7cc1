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

#include "common/parser/message.h"
#include "common/parser/parser.h"
#include "common/parser/spawn.h"
#include "common/symbol/object-cache.h"
#include "common/symbol/profile-symbolizer.h"
#include "common/symbol/resolver.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

#define MAX_BYTES   (256UL << 20)
#define MAX_OBJECTS 4096

#define STEP_AROUND 16   /* bytes */
#define MAX_GROWTH  4u   /* the step, of an object asked for often */
#define N_AROUND    512  /* steps */
#define MAX_OFFSETS 8192 /* whose lines are asked for at once */

#define MAX_PIECES    4096         /* branches decoded at once, */
#define MAX_SPAN      (64u << 10)  /* and the bytes that have them */
#define MAX_PART      (256u << 10) /* of code decoded at once */
#define UNKNOWN_OWNER UINT32_MAX   /* of code without a file */
#define ROOT          0            /* owns most files */

struct symbolizer {
	struct object_cache *cache;
	size_t max_bytes, max_code_bytes;
	bool att;
	struct parser *parser;
	struct parser *own_parser; /* NULL: it is somebody else's */
};

int symbolizer_new(struct symbolizer **ret, const struct symbolizer_settings *settings)
{
	_cleanup_(symbolizer_freep) struct symbolizer *s = calloc(1, sizeof(*s));
	const struct parser_settings own = { .connect = spawn_parser };
	struct symbolizer_settings with_parser = *settings;
	int r = 0;

	if (!s)
		return -ENOMEM;
	s->max_bytes = settings->max_bytes ?: MAX_BYTES;
	s->max_code_bytes = settings->max_code_bytes;
	s->att = settings->att;
	if (!settings->parser)
		r = parser_new(&s->own_parser, &own);
	s->parser = with_parser.parser = settings->parser ?: s->own_parser;
	if (r >= 0)
		r = object_cache_new(&s->cache, &with_parser);
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
	parser_free(s->own_parser);
	free(s);
	return NULL;
}

void symbolizer_prepare(struct symbolizer *s)
{
	parser_prepare(s->parser, ROOT);
}

/* Resolves @offset and its neighbourhood, in their order: who asks for single offsets asks for more
 * of them. The neighbourhood grows, as each time the parser has to be waited for. */
static int resolve_around(struct symbolizer *s, struct cached_object *c, uint64_t offset)
{
	const uint64_t step = STEP_AROUND << MIN(c->n_around, MAX_GROWTH);
	uint64_t offsets[N_AROUND + 1], first = offset - MIN(offset, N_AROUND / 2UL * step);
	size_t place;

	c->n_around++;
	first = MIN(first, UINT64_MAX - N_AROUND * step);
	place = (size_t)((offset - first + step - 1) / step);
	for (size_t i = 0; i < N_AROUND; i++)
		offsets[i + (i >= place)] = first + i * step;
	offsets[place] = offset;
	return resolver_add(s->cache, c, offsets, ARRAY_SIZE(offsets));
}

int symbolizer_find(struct symbolizer *s, const struct profile_object *object, uint64_t offset,
		    struct symbol *ret)
{
	const struct symbol_cache_range *range;
	struct cached_object *c;
	int r = object_cache_get(s->cache, object, &c);

	if (r < 0)
		return r;
	range = symbol_cache_find(&c->symbol_cache, offset);
	if (!range) {
		r = resolve_around(s, c, offset);
		if (r <= 0)
			return r;
		range = symbol_cache_find(&c->symbol_cache, offset);
	}
	if (!range || !range->name)
		return 0;
	*ret = (struct symbol){ .start = range->start, .size = range->size, .name = range->name };
	return 1;
}

/* Without a table where the file, or its parser, has none. */
static int read_unwind(struct symbolizer *s, struct cached_object *c)
{
	struct fault why = { .text = "" };
	int r = 0;

	if (c->knows_unwind || !c->file)
		return 0;
	c->knows_unwind = true;
	r = parser_file_unwind(c->file, &c->unwind, &why);
	c->has_unwind = r >= 0;
	if (r == -ETIME)
		return 0;
	return r < 0 && r != -ENOMEM ? object_cache_fail(s->cache, c, r, &why) : r;
}

int symbolizer_function(struct symbolizer *s, const struct profile_object *object, uint64_t offset,
			struct symbolizer_function *ret)
{
	const struct unwind_rule *rule;
	struct cached_object *c;
	int r = object_cache_get(s->cache, object, &c);

	if (r >= 0)
		r = read_unwind(s, c);
	if (r < 0)
		return r;
	if (!unwind_table_function(&c->unwind, offset, &ret->start, &ret->end))
		return 0;
	rule = unwind_table_find(&c->unwind, offset);
	ret->is_outermost = rule && rule->cfa == UNWIND_CFA_END;
	return 1;
}

static const struct loads *loads_of(const struct cached_object *c)
{
	return &parser_file_identity(c->file)->loads;
}

int symbolizer_address(struct symbolizer *s, const struct profile_object *object, uint64_t offset,
		       uint64_t *ret)
{
	struct cached_object *c;
	int r = object_cache_get(s->cache, object, &c);

	if (r < 0 || !c->file)
		return r;
	return loads_address(loads_of(c), offset, ret) ? 1 : 0;
}

int symbolizer_offset(struct symbolizer *s, const struct profile_object *object, uint64_t address,
		      uint64_t *ret)
{
	struct cached_object *c;
	int r = object_cache_get(s->cache, object, &c);

	if (r < 0 || !c->file)
		return r;
	return loads_offset(loads_of(c), address, ret) ? 1 : 0;
}

/* Adds the lines of @n offsets to the line cache. Failed ones count as having none. */
static int load_lines(struct symbolizer *s, struct cached_object *c, const uint64_t *offsets,
		      size_t n)
{
	struct parser_lines lines = {};
	struct fault why = { .text = "" };
	int r;

	r = parser_file_lines(c->file, offsets, n, LINE_CACHE_MAX_FRAMES, &lines, &why);
	if (r < 0 && r != -ENOMEM)
		r = object_cache_fail(s->cache, c, r, &why);
	for (size_t i = 0; r >= 0 && i < n; i++) {
		size_t first = lines.n > 0 ? lines.starts[i] : 0;
		size_t end = lines.n > 0 ? lines.starts[i + 1] : 0;

		r = line_cache_add(&c->line_cache, offsets[i], lines.frames + first, end - first);
	}
	parser_lines_done(&lines);
	return r;
}

int symbolizer_load_lines(struct symbolizer *s, const struct profile_object *object,
			  const uint64_t *offsets, size_t n)
{
	_cleanup_free_ uint64_t *missing = NULL;
	const struct source_frame *found;
	struct cached_object *c;
	size_t n_missing = 0;
	int r;

	r = object_cache_get(s->cache, object, &c);
	if (r < 0 || !c->file)
		return r;
	if (ARRAY_ALLOCATE(&missing, n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (line_cache_find(&c->line_cache, offsets[i], &found) < 0)
			missing[n_missing++] = offsets[i];
	for (size_t i = 0; r >= 0 && i < n_missing; i += MAX_OFFSETS)
		r = load_lines(s, c, missing + i, MIN(n_missing - i, (size_t)MAX_OFFSETS));
	return r;
}

int symbolizer_lines(struct symbolizer *s, const struct profile_object *object, uint64_t offset,
		     struct source_frame *ret, size_t n)
{
	const struct source_frame *frames;
	struct cached_object *c;
	int r = object_cache_get(s->cache, object, &c);

	if (r < 0 || !c->file)
		return r;
	r = line_cache_find(&c->line_cache, offset, &frames);
	if (r == -ENOENT) {
		r = load_lines(s, c, &offset, 1);
		if (r >= 0)
			r = line_cache_find(&c->line_cache, offset, &frames);
	}
	if (r <= 0)
		return r;
	r = (int)MIN((size_t)r, n);
	memcpy(ret, frames, (size_t)r * sizeof(*ret));
	return r;
}

/* The bytes read, 0 also where the parser fails; or -ENOMEM. */
static int read_code(struct symbolizer *s, struct cached_object *c, uint64_t offset, uint8_t *ret,
		     size_t n)
{
	struct fault why = { .text = "" };
	size_t done = 0;
	int r = 1;

	while (done < n && r > 0 && offset <= (uint64_t)INT64_MAX - done) {
		r = parser_file_code(c->file, offset + done, ret + done,
				     MIN(n - done, (size_t)MESSAGE_CODE), &why);
		if (r < 0 && r != -ENOMEM)
			r = object_cache_fail(s->cache, c, r, &why);
		done += (size_t)MAX(r, 0);
	}
	return r < 0 ? r : (int)done;
}

static bool has_code(const struct cached_object *c)
{
	return c->file && loads_have_code(loads_of(c));
}

int symbolizer_code(struct symbolizer *s, const struct profile_object *object, uint64_t offset,
		    void *ret, size_t n, uint16_t *ret_machine)
{
	struct cached_object *c;
	int r = object_cache_get(s->cache, object, &c);

	if (r < 0 || !has_code(c))
		return r;
	*ret_machine = parser_file_identity(c->file)->machine;
	return read_code(s, c, offset, ret, MIN(n, (size_t)INT_MAX));
}

int symbolizer_unwind_table(struct symbolizer *s, const struct profile_object *object,
			    struct unwind_table *ret)
{
	struct cached_object *c;
	int r;

	*ret = (struct unwind_table){};
	r = object_cache_get(s->cache, object, &c);
	if (r >= 0)
		r = read_unwind(s, c);
	if (r < 0 || !c->has_unwind)
		return r;
	unwind_table_share(ret, &c->unwind);
	return 1;
}

/* Code of one object that is decoded: of each branch one instruction. */
struct branch_code {
	struct parser_piece pieces[MAX_PIECES];
	struct symbolizer_branch *branches[MAX_PIECES];
	uint8_t bytes[MAX_SPAN];
	size_t n;
};

/* Reads the code of the first branches, near to each other. The number of branches, or -ENOMEM. */
static int read_near(struct symbolizer *s, struct cached_object *c,
		     struct symbolizer_branch *branches, size_t n, struct branch_code *code)
{
	uint64_t first = branches[0].offset;
	size_t n_near = 1, n_bytes;
	int r;

	while (n_near < MIN(n, (size_t)MAX_PIECES) &&
	       branches[n_near].offset - first <= MAX_SPAN - INSTRUCTION_MAX)
		n_near++;
	n_bytes = (size_t)(branches[n_near - 1].offset - first) + INSTRUCTION_MAX;
	r = read_code(s, c, first, code->bytes, n_bytes);
	code->n = 0;
	for (size_t i = 0; r >= 0 && i < n_near; i++) {
		size_t at = (size_t)(branches[i].offset - first);

		if (at >= (size_t)r)
			break;
		code->branches[code->n] = &branches[i];
		code->pieces[code->n++] = (struct parser_piece){
			.code = code->bytes + at,
			.n = MIN((size_t)r - at, (size_t)INSTRUCTION_MAX),
			.address = branches[i].offset,
			.max = 1,
		};
	}
	return r < 0 ? r : (int)n_near;
}

static int decode_branches(struct symbolizer *s, struct cached_object *c,
			   const struct branch_code *code)
{
	const struct parser_decoding decoding = {
		.owner = parser_file_owner(c->file),
		.machine = parser_file_identity(c->file)->machine,
		.pieces = code->pieces,
		.n = code->n,
	};
	struct parser_instructions decoded = {};
	struct fault ignored;
	int r;

	if (code->n == 0)
		return 0;
	r = parser_disassemble(s->parser, &decoding, &decoded, &ignored);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	for (size_t i = 0; i < code->n; i++) {
		if (decoded.starts[i] == decoded.starts[i + 1])
			continue;
		code->branches[i]->is_known = true;
		code->branches[i]->kind = decoded.rows[decoded.starts[i]].kind;
	}
	parser_instructions_done(&decoded);
	return 0;
}

int symbolizer_branches(struct symbolizer *s, const struct profile_object *object,
			struct symbolizer_branch *branches, size_t n)
{
	_cleanup_free_ struct branch_code *code = NULL;
	struct cached_object *c;
	int r, n_near;

	for (size_t i = 0; i < n; i++)
		branches[i].is_known = false;
	r = object_cache_get(s->cache, object, &c);
	if (r < 0 || !has_code(c))
		return r;
	code = malloc(sizeof(*code));
	if (!code)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < n; i += (size_t)n_near) {
		n_near = read_near(s, c, branches + i, n - i, code);
		r = n_near < 0 ? n_near : decode_branches(s, c, code);
	}
	return r;
}

/* Decodes one part of the code, from @at on. The number of bytes decoded, or -errno. */
static int decode_part(struct symbolizer *s, uint32_t owner, const struct disassembly_code *code,
		       size_t at, struct disassembly *ret, struct fault *why)
{
	size_t n = MIN(code->n - at, (size_t)MAX_PART);
	const struct parser_piece piece = { code->bytes + at, n, code->address + at, SIZE_MAX };
	const struct parser_decoding decoding = {
		.owner = owner,
		.machine = code->machine,
		.att = s->att,
		.low = code->low,
		.high = code->high,
		.pieces = &piece,
		.n = 1,
	};
	struct parser_instructions decoded = {};
	size_t done = 0;
	int r;

	r = parser_disassemble(s->parser, &decoding, &decoded, why);
	for (size_t i = 0; r >= 0 && i < decoded.starts[1]; i++) {
		/* the last ones may be longer than the part */
		if (done > 0 && n - done < INSTRUCTION_MAX && at + n < code->n)
			break;
		r = disassembly_add(ret, &decoded.rows[i], code->texts);
		done += decoded.rows[i].size;
	}
	parser_instructions_done(&decoded);
	return r < 0 ? r : (int)done;
}

int symbolizer_disassemble(struct symbolizer *s, const struct profile_object *object,
			   const struct disassembly_code *code, struct disassembly *ret,
			   struct fault *why)
{
	struct cached_object *c = object ? object_cache_find(s->cache, object) : NULL;
	uint32_t owner = c && c->file ? parser_file_owner(c->file) : UNKNOWN_OWNER;
	int r = 1;

	for (size_t at = 0; at < code->n && r > 0; at += (size_t)MAX(r, 0))
		r = decode_part(s, owner, code, at, ret, why);
	return MIN(r, 0);
}

int symbolizer_data(struct symbolizer *s, const struct profile_object *object,
		    const uint64_t *addresses, size_t n, struct parser_data *ret)
{
	struct fault why = { .text = "" };
	struct cached_object *c;
	int r;

	*ret = (struct parser_data){};
	r = object_cache_get(s->cache, object, &c);
	if (r < 0 || !c->file)
		return r;
	r = parser_file_data(c->file, addresses, MIN(n, (size_t)MESSAGE_OFFSETS), ret, &why);
	return r < 0 && r != -ENOMEM ? object_cache_fail(s->cache, c, r, &why) : r;
}

int symbolizer_fixed_range(struct symbolizer *s, const struct profile_object *object,
			   uint64_t *ret_low, uint64_t *ret_high)
{
	struct cached_object *c;
	int r = object_cache_get(s->cache, object, &c);

	*ret_low = *ret_high = 0;
	if (r >= 0 && c->file)
		loads_fixed_range(loads_of(c), ret_low, ret_high);
	return r;
}

int symbolizer_code_start(struct symbolizer *s, const struct profile_object *object, uint64_t *ret)
{
	struct cached_object *c;
	int r = object_cache_get(s->cache, object, &c);

	return r < 0 ? r : c->file && loads_code_start(loads_of(c), ret);
}

void symbolizer_for_each_problem(const struct symbolizer *s, symbolizer_problem_handler handler,
				 void *userdata)
{
	object_cache_for_each_problem(s->cache, handler, userdata);
}

void symbolizer_for_each_failure(const struct symbolizer *s, symbolizer_problem_handler handler,
				 void *userdata)
{
	object_cache_for_each_failure(s->cache, handler, userdata);
}

uint64_t symbolizer_malformed(const struct symbolizer *s)
{
	return object_cache_malformed(s->cache);
}

int symbolizer_add_functions(struct symbolizer *s, struct profile *profile)
{
	int r;

	object_cache_forget_changed(s->cache);
	r = profile_symbolizer_run(s->cache, s->max_bytes, s->max_code_bytes, profile);

	object_cache_shrink(s->cache, s->max_bytes, MAX_OBJECTS);
	return r;
}
