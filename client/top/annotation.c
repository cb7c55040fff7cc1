/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/top/annotation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/stream/line-loader.h"
#include "client/top/kernel-code.h"
#include "client/view/branch.h"
#include "common/parser/parser.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"
#include "common/util/strings.h"

#define MAX_CODE (4u << 20)

static bool is_in_span(const struct annotation *a, struct location at)
{
	return at.object == a->span->object && at.offset - a->span->start < a->span->size;
}

static int compare_offset(const void *key, const void *element)
{
	const uint64_t *offset = key;
	const struct annotation_line *line = element;

	if (*offset < line->offset)
		return -1;
	return *offset - line->offset >= line->size;
}

/* The line that holds @offset, or NULL. */
static struct annotation_line *find_line(const struct annotation *a, uint64_t offset)
{
	return a->n_lines == 0 ?
		       NULL :
		       bsearch(&offset, a->lines, a->n_lines, sizeof(*a->lines), compare_offset);
}

static struct annotation_line *add_line(struct annotation *a, uint64_t offset, uint64_t size)
{
	if (ARRAY_RESERVE(&a->lines, &a->cap_lines, a->n_lines + 1) < 0)
		return NULL;
	a->lines[a->n_lines] = (struct annotation_line){ .offset = offset, .size = size };
	return &a->lines[a->n_lines++];
}

/* The operand of an indirect branch is not its target. */
static bool is_direct(enum branch_kind kind)
{
	return kind == BRANCH_COND || kind == BRANCH_JMP || kind == BRANCH_CALL;
}

/* What code refers to, other than where it branches. adrp has the page of its data only. */
static bool refers_to_data(const struct instruction *instruction)
{
	return instruction->has_target && !is_direct(instruction->kind) &&
	       strncmp(instruction->text, "adrp", strlen("adrp")) != 0;
}

/* @shift is the ELF file's address less the offset, the same for the whole span. */
static int add_instruction(struct annotation *a, const struct instruction *instruction,
			   uint64_t shift)
{
	struct annotation_line *line = add_line(a, instruction->address - shift, instruction->size);

	if (!line)
		return -ENOMEM;
	line->text = instruction->text;
	line->kind = instruction->kind;
	line->has_target = instruction->has_target && is_direct(instruction->kind);
	line->target = (struct location){ a->span->object, instruction->target - shift };
	line->has_data = refers_to_data(instruction);
	line->data_address = instruction->target;
	return 0;
}

static int disassemble(struct annotation *a, const uint8_t *bytes, size_t n, uint16_t machine)
{
	_cleanup_(disassembly_done) struct disassembly instructions = {};
	struct location start = { a->span->object, a->span->start };
	uint64_t shift = place_find(&a->places, start).address - start.offset;
	struct disassembly_code code = {
		.machine = machine,
		.bytes = bytes,
		.n = n,
		.address = start.offset + shift,
		.texts = a->strings,
	};
	int r = symbolizer_disassemble(a->source->symbolizer,
				       &a->source->all->objects[a->span->object], &code,
				       &instructions, &a->why_no_code);

	for (size_t i = 0; r >= 0 && i < instructions.n; i++)
		r = add_instruction(a, &instructions.rows[i], shift);
	return r;
}

/* Without a function the span ends behind the last range, maybe beyond the file. */
static uint64_t wanted_bytes(const struct code_span *span)
{
	if (span->name || span->n_ranges == 0)
		return span->size;
	return span->ranges[span->n_ranges - 1].end - span->start + 1;
}

/*
 * The code of a kernel's function, if it is the running kernel: its symbols must be. They are
 * compared by build-id where it has one.
 */
static int read_kernel_code(struct annotation *a, const struct profile_object *object, void *ret,
			    size_t n, uint16_t *ret_machine)
{
	const struct location start = { a->span->object, a->span->start };
	struct symbol symbol;
	int r;

	if ((object->kind != OBJECT_KERNEL && object->kind != OBJECT_MODULE) || !a->span->name)
		return 0;
	r = symbolizer_find(a->source->symbolizer, object, start.offset, &symbol);
	if (r <= 0 || strcmp(symbol.name, a->span->name) != 0)
		return r < 0 ? r : 0;
	a->origin = CODE_KERNEL;
	r = kernel_code_read(NULL, a->span->name, profile_raw_address(a->source->all, start), ret,
			     n, ret_machine);
	if (r == -EACCES)
		fault_set(&a->why_no_code, r, "code of the kernel is shown to root");
	else if (r <= 0)
		fault_set(&a->why_no_code, r,
			  "binary not found, nor is the function in /proc/kcore");
	return MAX(r, 0);
}

static int read_code(struct annotation *a, annotation_code_source kept, void *userdata)
{
	const struct profile_object *object = &a->source->all->objects[a->span->object];
	size_t n = (size_t)MIN(a->span->size, (uint64_t)MAX_CODE);
	_cleanup_free_ uint8_t *code = malloc(n + 1);
	uint16_t machine;
	int r;

	if (!code)
		return -ENOMEM;
	a->origin = CODE_FILE;
	r = symbolizer_code(a->source->symbolizer, object, a->span->start, code, n, &machine);
	if (r == 0)
		r = read_kernel_code(a, object, code, n, &machine);
	if (r == 0 && kept) {
		a->origin = CODE_DAEMON;
		r = kept(object, a->span->start, code, n, &machine, userdata);
	}
	if (r > 0) {
		a->truncated = (uint64_t)r < wanted_bytes(a->span);
		r = disassemble(a, code, (size_t)r, machine);
	}
	if (r == -EOPNOTSUPP || r == -ECONNREFUSED || r == -EREMOTEIO)
		r = 0;
	if (a->n_lines == 0)
		a->origin = CODE_NONE;
	return r;
}

static int compare_addresses(const void *p, const void *q)
{
	const uint64_t *a = p, *b = q;

	return COMPARE(*a, *b);
}

/* The addresses of all data, sorted, each once. 0 or -ENOMEM. */
static int collect_addresses(const struct annotation *a, uint64_t **ret, size_t *ret_n)
{
	uint64_t *addresses;
	size_t n = 0, n_different = 0;

	if (ARRAY_ALLOCATE(&addresses, a->n_lines) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < a->n_lines; i++)
		if (a->lines[i].has_data)
			addresses[n++] = a->lines[i].data_address;
	qsort(addresses, n, sizeof(*addresses), compare_addresses);
	for (size_t i = 0; i < n; i++)
		if (n_different == 0 || addresses[i] != addresses[n_different - 1])
			addresses[n_different++] = addresses[i];
	*ret = addresses;
	*ret_n = n_different;
	return 0;
}

static int name_data(struct annotation *a)
{
	_cleanup_free_ uint64_t *addresses = NULL;
	size_t n;
	int r;

	r = collect_addresses(a, &addresses, &n);
	if (r >= 0 && n > 0)
		r = symbolizer_data(a->source->symbolizer,
				    &a->source->all->objects[a->span->object], addresses, n,
				    &a->data);
	for (size_t i = 0; a->data.n > 0 && i < a->n_lines; i++) {
		struct annotation_line *line = &a->lines[i];
		const uint64_t *found = bsearch(&line->data_address, addresses, a->data.n,
						sizeof(*addresses), compare_addresses);

		if (line->has_data && found)
			line->data = &a->data.rows[found - addresses];
	}
	return r;
}

static int compare_lines(const void *p, const void *q)
{
	const struct annotation_line *a = p, *b = q;

	return COMPARE(a->offset, b->offset);
}

static bool is_in_range(const struct code_span *span, uint64_t offset)
{
	for (size_t i = 0; i < span->n_ranges; i++)
		if (span->ranges[i].start <= offset && offset <= span->ranges[i].end)
			return true;
	return false;
}

static int add_sampled_addresses(struct annotation *a)
{
	const struct profile *p = a->source->all;

	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *stack = &p->stacks[i];

		if (stack->samples > 0 && is_in_span(a, stack->frame) &&
		    !is_in_range(a->span, stack->frame.offset) &&
		    !add_line(a, stack->frame.offset, 1))
			return -ENOMEM;
	}
	return 0;
}

/* Without code: the ranges, and the addresses that were sampled outside of ranges. */
static int add_ranges(struct annotation *a)
{
	size_t n = 0;

	for (size_t i = 0; i < a->span->n_ranges; i++) {
		const struct profile_range *range = &a->span->ranges[i];

		if (!add_line(a, range->start, range->end - range->start + 1))
			return -ENOMEM;
	}
	if (add_sampled_addresses(a) < 0)
		return -ENOMEM;
	if (a->n_lines > 1)
		qsort(a->lines, a->n_lines, sizeof(*a->lines), compare_lines);
	for (size_t i = 0; i < a->n_lines; i++)
		if (n == 0 || a->lines[n - 1].offset != a->lines[i].offset)
			a->lines[n++] = a->lines[i];
	a->n_lines = n;
	return 0;
}

static void count_samples(struct annotation *a)
{
	const struct profile *p = a->source->all;

	a->all_samples = p->counters.samples;
	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *stack = &p->stacks[i];
		struct annotation_line *line;

		if (stack->samples == 0 || !is_in_span(a, stack->frame))
			continue;
		a->samples += stack->samples;
		line = find_line(a, stack->frame.offset);
		if (line)
			line->samples += stack->samples;
	}
}

/* Both are sorted. A range may end within an instruction, at its branch's first byte. */
static void join_ranges(struct annotation *a)
{
	const struct profile_range *range = a->span->ranges, *end = range + a->span->n_ranges;

	for (size_t i = 0; i < a->n_lines; i++) {
		struct annotation_line *line = &a->lines[i];

		while (range < end && range->end < line->offset)
			range++;
		if (range == end || range->start > line->offset)
			continue;
		line->range = range;
		line->begins = range->start == line->offset;
		line->ends = line->text ? range->end == line->offset :
					  range->end - line->offset == line->size - 1;
		a->n_ran++;
	}
	for (size_t i = 0; i < a->span->n_ranges; i++)
		a->max_coverage = MAX(a->max_coverage, a->span->ranges[i].coverage);
}

static bool is_start(const struct annotation_line *line, uint64_t offset)
{
	return line && line->offset == offset;
}

static void add_cycles(struct annotation *a, const struct profile_block *block)
{
	struct annotation_line *first = find_line(a, block->start);
	struct annotation_line *last = find_line(a, block->end);

	if (!is_start(first, block->start) || !last || last < first || block->cycles_rows == 0)
		return;
	a->has_cycles = true;
	last->timed_runs += block->cycles_rows;
	last->cycles += block->cycles;
	last->instructions += block->cycles_rows * (uint64_t)(last - first + 1);
}

static void count_cycles(struct annotation *a)
{
	const struct profile *p = a->source->all;

	for (size_t i = 0; i < p->n_blocks; i++)
		if (p->blocks[i].object == a->span->object)
			add_cycles(a, &p->blocks[i]);
}

/* A branch without a direct target gets its most frequent one. */
static int find_targets(struct annotation *a)
{
	_cleanup_free_ struct profile_branch *branches = NULL;
	size_t n;
	int r;

	r = view_branches(&branches, &n, a->source->all);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		struct location from = branches[i].from;
		struct annotation_line *line =
			is_in_span(a, from) ? find_line(a, from.offset) : NULL;

		if (!line || line->has_target || line->kind == BRANCH_RET ||
		    (line->text && line->kind == BRANCH_UNKNOWN))
			continue;
		line->has_target = true;
		line->target = branches[i].to;
	}
	return 0;
}

int annotation_new(struct annotation **ret, const struct profile_source *source,
		   const struct code_span *span, annotation_code_source kept, void *userdata)
{
	_cleanup_(annotation_freep) struct annotation *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return -ENOMEM;
	a->source = source;
	a->span = span;
	a->places = (struct places){ .profile = source->all, .symbolizer = source->symbolizer };
	r = strings_new(&a->strings);
	if (r >= 0)
		r = read_code(a, kept, userdata);
	if (r >= 0 && a->origin == CODE_NONE)
		r = add_ranges(a);
	if (r < 0)
		return r;
	count_samples(a);
	join_ranges(a);
	if (a->origin != CODE_NONE)
		count_cycles(a);
	if (a->origin == CODE_FILE)
		r = name_data(a);
	if (r >= 0)
		r = find_targets(a);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(a);
	return 0;
}

struct annotation *annotation_free(struct annotation *annotation)
{
	if (!annotation)
		return NULL;
	parser_data_done(&annotation->data);
	strings_free(annotation->strings);
	free(annotation->lines);
	free(annotation);
	return NULL;
}

int annotation_load_lines(const struct annotation *a)
{
	_cleanup_(line_loader_done) struct line_loader loader = {};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < a->n_lines; i++) {
		const struct annotation_line *line = &a->lines[i];

		r = line_loader_add(&loader, (struct location){ a->span->object, line->offset });
		if (r >= 0 && line->has_target)
			r = line_loader_add(&loader, line->target);
	}
	return r < 0 ? r : line_loader_run(&loader, a->source->all, a->source->symbolizer);
}

double annotation_line_ipc(const struct annotation_line *line)
{
	return line->cycles > 0 ? (double)line->instructions / (double)line->cycles : 0;
}

double annotation_ipc(const struct annotation *annotation)
{
	struct annotation_line sum = {};

	for (size_t i = 0; i < annotation->n_lines; i++) {
		sum.instructions += annotation->lines[i].instructions;
		sum.cycles += annotation->lines[i].cycles;
	}
	return annotation_line_ipc(&sum);
}
