/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A tree's row without siblings is not indented, so that lines are indented only where paths part.
 * On a terminal only the innermost marks are drawn if all would take too much of the line.
 */
#include "client/render/stack-text.h"

#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/stack/code-unit.h"
#include "client/stack/stack-group.h"
#include "client/term/color.h"
#include "client/term/elide.h"
#include "client/term/text.h"
#include "common/util/cleanup.h"
#include "common/util/percent.h"

#define INDENT   "    "
#define UNKNOWN  "[unknown]"
#define NARROW   60 /* columns: a tree's names need those of the number of samples */
#define MIN_NAME 12 /* columns; without as many for it the object makes room */

/* " ×41", " ×38..41", or "" for a single frame. */
static void format_turns(char *ret, size_t n, const struct view_stack_turns *turns)
{
	const char *times = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? "×" : "x";

	if (turns->most == 1)
		*ret = '\0';
	else if (turns->fewest == turns->most)
		snprintf(ret, n, " %s%" PRIu32, times, turns->most);
	else
		snprintf(ret, n, " %s%" PRIu32 "..%" PRIu32, times, turns->fewest, turns->most);
}

/* How a frame is written. */
struct frame_style {
	bool is_function;  /* the whole function: without offset */
	bool verbose;      /* with its size, and the whole path */
	bool addressed;    /* the address stands before it: names are not made of addresses */
	const char *turns; /* or "" */
	size_t n_before;   /* columns */
};

/* "symbol+0x12", "symbol+0x12/0x40", or "symbol/0x40" of a whole function. A heap string, or NULL.
 */
static char *format_name(const struct place *place, const struct frame_style *style)
{
	const struct profile_function *function = place->function;
	_cleanup_free_ char *text = NULL;
	char *whole;

	if (function ? style->is_function : style->addressed)
		text = strdup(function ? function->name : UNKNOWN);
	else
		text = place_format(place);
	if (!text || !style->verbose || !function)
		return TAKE_PTR(text);
	return asprintf(&whole, "%s/0x%" PRIx64, text, function->size) < 0 ? NULL : whole;
}

/* The name, " (object)" if there is room for it, and a newline. */
static int write_name(struct output *output, const struct place *place,
		      const struct frame_style *style)
{
	const char *object = style->verbose && place->object ? place->object->path :
							       place_object_name(place->object);
	size_t n_around = style->n_before + strlen(style->turns) + strlen(" ()") + strlen(object);
	size_t room = SIZE_MAX;
	bool has_object = true;
	_cleanup_free_ char *text = format_name(place, style);
	_cleanup_free_ char *fitting = NULL;

	if (output->width > 0 && !style->verbose) {
		has_object = n_around + MIN_NAME <= output->width;
		n_around = has_object ? n_around : style->n_before + strlen(style->turns);
		room = output->width > n_around ? output->width - n_around : 1;
	}
	fitting = text ? elide_name(text, room) : NULL;
	if (!fitting)
		return -ENOMEM;
	text_write(output->f, fitting);
	fputs(style->turns, output->f);
	if (has_object) {
		fputs(" (", output->f);
		text_write(output->f, object);
		fputc(')', output->f);
	}
	fputc('\n', output->f);
	return 0;
}

/* A whole object has no address. */
static int n_digits(const struct places *places, struct location at)
{
	uint64_t address = code_unit_is_object(at) ? 0 : place_find(places, at).address;
	int n = 1;

	while (address >>= 4)
		n++;
	return n;
}

/* The digits of the stack's longest address. */
static int count_digits(const struct places *places, const struct view_stacks *stacks,
			const struct view_stack *stack)
{
	int n = n_digits(places, stack->leaf);

	for (uint32_t i = stack->caller; i != PROFILE_NONE; i = stacks->callers[i].parent)
		n = MAX(n, n_digits(places, stacks->callers[i].frame));
	return n;
}

struct frame {
	struct location at;
	const struct view_stack_turns *turns;
	bool is_leaf;
};

static int write_frame(const struct stack_text *text, struct output *output,
		       const struct frame *frame, int n_address)
{
	struct place place = place_find(text->places, frame->at);
	int n = code_unit_is_object(frame->at) ?
			fprintf(output->f, INDENT "%*s ", n_address, "") :
			fprintf(output->f, INDENT "%*" PRIx64 " ", n_address, place.address);
	char turns[32];
	const struct frame_style style = {
		.is_function = frame->is_leaf || frame->turns->most > 1,
		.verbose = text->verbose,
		.addressed = true,
		.turns = turns,
		.n_before = (size_t)n,
	};

	format_turns(turns, sizeof(turns), frame->turns);
	return write_name(output, &place, &style);
}

/* Of the deepest stack, if recursion is folded. */
static size_t count_frames(const struct view_stacks *stacks, const struct view_stack *stack)
{
	size_t n = stack->turns.most;

	for (uint32_t i = stack->caller; i != PROFILE_NONE; i = stacks->callers[i].parent)
		n += stacks->callers[i].turns.most;
	return n;
}

static void write_share(struct output *output, const struct view_stacks *stacks,
			const struct view_stack *stack, uint64_t samples)
{
	double stitched = (double)stack->stitched / (double)stack->samples;
	size_t n = count_frames(stacks, stack); /* a pruned stack had more frames */

	fprintf(output->f, "%s%.2f%%  %" PRIu64 " sample%s", COLOR_BOLD(output->colors),
		percent_of(stack->samples, samples), stack->samples, text_plural(stack->samples));
	if (stack->stitched > 0)
		fprintf(output->f, ", %.1f of %zu frames stitched", MIN(stitched, (double)n), n);
	fprintf(output->f, "%s\n", COLOR_RESET(output->colors));
}

/* "sort (libc.so.6)" in at most @room columns; the frames below name the object, too. A heap
 * string, or NULL. */
static char *format_group(const struct place *place, size_t room)
{
	const char *name = place->function ? place->function->name : UNKNOWN;
	const char *object = place_object_name(place->object);
	char *text;

	if (strlen(name) + strlen(object) + strlen(" ()") > room)
		return elide_name(place->function ? name : object, room);
	return asprintf(&text, "%s (%s)", name, object) < 0 ? NULL : text;
}

#define MIN_GROUP_NAME 12 /* columns; shorter numbers make room for it */

/* ": leaf 154 of 2465 samples, 6.2 %, 3 stacks; machine 2501", or in few columns ": 6.2 %, 3
 * stacks" */
static size_t format_numbers(char *ret, size_t n, const struct stack_text *text,
			     const struct view_stack_group *group, size_t width)
{
	double percent = percent_of(group->samples, text->samples);
	char machine[40] = "";
	size_t length;

	if (text->machine > 0)
		snprintf(machine, sizeof(machine), "; machine %" PRIu64, text->machine);
	length = (size_t)snprintf(
		ret, n, ": leaf %" PRIu64 " of %" PRIu64 " sample%s, %.1f %%, %zu stack%s%s",
		group->samples, text->samples, text_plural(text->samples), percent, group->n_stacks,
		text_plural(group->n_stacks), machine);
	if (width > 0 && width < length + MIN_GROUP_NAME)
		length = (size_t)snprintf(ret, n, ": %.1f %%, %zu stack%s", percent,
					  group->n_stacks, text_plural(group->n_stacks));
	return length;
}

/* "sort (libc.so.6): leaf 154 of 2465 samples, 6.2 %, 3 stacks; machine 2501" */
static int write_group(const struct stack_text *text, struct output *output,
		       const struct view_stack *stack)
{
	struct place place = place_find(text->places, stack->leaf);
	_cleanup_free_ char *name = NULL;
	char numbers[160];
	size_t n_numbers =
		format_numbers(numbers, sizeof(numbers), text, &stack->group, output->width);

	name = format_group(&place, output->width == 0        ? SIZE_MAX :
				    output->width > n_numbers ? output->width - n_numbers :
								1);
	if (!name)
		return -ENOMEM;
	fputs(COLOR_BOLD(output->colors), output->f);
	text_write(output->f, name);
	fprintf(output->f, "%s%s\n", numbers, COLOR_RESET(output->colors));
	return 0;
}

int stack_text_write(const struct stack_text *text, struct output *output, size_t i, bool first)
{
	const struct view_stacks *stacks = text->stacks;
	const struct view_stack *stack = &stacks->rows[i];
	struct frame frame = { stack->leaf, &stack->turns, true };
	int n_address = count_digits(text->places, stacks, stack), r = 0;

	fputc('\n', output->f);
	if (stacks->grouped && (first || view_stacks_begins_group(stacks, i)))
		r = write_group(text, output, stack);
	write_share(output, stacks, stack, text->samples);
	if (r >= 0)
		r = write_frame(text, output, &frame, n_address);
	for (uint32_t at = stack->caller; r >= 0 && at != PROFILE_NONE;
	     at = stacks->callers[at].parent) {
		frame = (struct frame){ stacks->callers[at].frame, &stacks->callers[at].turns,
					false };
		r = write_frame(text, output, &frame, n_address);
	}
	return r;
}

size_t stack_text_lines(const struct view_stacks *stacks, const struct view_stack *stack)
{
	return 2 + view_stack_depth(stacks, stack);
}

/* The marks between a row and its parent; @past leads past it to a sibling of an ancestor. */
struct marks {
	const char *inner, *last, *past, *blank, *truncated;
};

#define MARK_COLUMNS      3
#define TRUNCATED_COLUMNS 4

static const struct marks *choose_marks(void)
{
	static const struct marks lines = { "├─ ", "└─ ", "│  ", "   ", "... " };
	static const struct marks ascii = { "|- ", "`- ", "|  ", "   ", "... " };

	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0 ? &lines : &ascii;
}

struct tree_text {
	const struct places *places;
	const struct view_tree *tree;
	const struct marks *marks;
	struct output *output;
	bool has_self;
	int n_samples;  /* columns of a number of samples; 0: there is no room for them */
	size_t n_marks; /* at most in a line */
};

/* The marks before row @i. Returns their columns, or -ENOMEM. */
static int write_marks(const struct tree_text *text, size_t i)
{
	const struct view_tree_row *rows = text->tree->rows;
	_cleanup_free_ const char **marks = calloc(rows[i].depth + 1, sizeof(*marks));
	size_t n = 0, n_shown;

	if (!marks)
		return -ENOMEM;
	for (uint32_t at = (uint32_t)i; at != PROFILE_NONE; at = rows[at].parent)
		if (!rows[at].is_only && at == i)
			marks[n++] = rows[at].is_last ? text->marks->last : text->marks->inner;
		else if (!rows[at].is_only)
			marks[n++] = rows[at].is_last ? text->marks->blank : text->marks->past;
	n_shown = MIN(n, text->n_marks);
	if (n_shown < n)
		fputs(text->marks->truncated, text->output->f);
	for (size_t mark = n_shown; mark-- > 0;)
		fputs(marks[mark], text->output->f);
	return (int)(n_shown * MARK_COLUMNS) + (n_shown < n ? TRUNCATED_COLUMNS : 0);
}

static int write_numbers(const struct tree_text *text, const struct view_tree_row *row,
			 uint64_t samples)
{
	FILE *f = text->output->f;
	double share = percent_of(row->total, samples);
	bool colors = text->output->colors;
	int n;

	fputs(share >= COLOR_HOT_PERCENT  ? COLOR_RED(colors) :
	      share >= COLOR_WARM_PERCENT ? COLOR_GREEN(colors) :
					    "",
	      f);
	n = fprintf(f, "%6.2f%%", share);
	fputs(COLOR_RESET(colors), f);
	if (text->has_self)
		n += fprintf(f, " %6.2f%%", percent_of(row->self, samples));
	if (text->n_samples > 0)
		n += fprintf(f, " %*" PRIu64, text->n_samples, row->total);
	return n + fprintf(f, " ");
}

static int write_row(const struct tree_text *text, size_t i, uint64_t samples)
{
	const struct view_tree_row *row = &text->tree->rows[i];
	struct place place = place_find(text->places, row->frame);
	int n_before = write_numbers(text, row, samples), n_marks = write_marks(text, i);
	const struct frame_style style = {
		.is_function = true,
		.addressed = code_unit_is_object(row->frame),
		.turns = "",
		.n_before = (size_t)(n_before + n_marks),
	};

	if (n_marks < 0)
		return n_marks;
	return write_name(text->output, &place, &style);
}

static int count_sample_columns(uint64_t samples, size_t width)
{
	if (width > 0 && width < NARROW)
		return 0;
	return MAX(snprintf(NULL, 0, "%" PRIu64, samples), (int)strlen("SAMPLES"));
}

/* So that there is room for names. */
static size_t max_marks(size_t width)
{
	return width == 0 ? SIZE_MAX : width < NARROW ? width / 20 : width / 3 / MARK_COLUMNS;
}

int stack_text_write_tree(const struct stack_text_tree *what, struct output *output)
{
	struct tree_text text = {
		.places = what->places,
		.tree = what->tree,
		.marks = choose_marks(),
		.output = output,
		.has_self = what->order == VIEW_TREE_CALLER,
		.n_samples = count_sample_columns(what->samples, output->width),
		.n_marks = max_marks(output->width),
	};
	int r = 0;

	fprintf(output->f, "  TOTAL%s", text.has_self ? "    SELF" : "");
	if (text.n_samples > 0)
		fprintf(output->f, " %*s", text.n_samples, "SAMPLES");
	fputs(" FUNCTION\n", output->f);
	for (size_t i = what->first; r >= 0 && i < what->first + what->n; i++)
		r = write_row(&text, i, what->samples);
	return r;
}
