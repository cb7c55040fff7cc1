/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The columns behind an instruction are the notes of Zijlstra's mail of 2016. "+50.0%": that share
 * of the runs through here began here, by a branch. "-12.5%": that share of them ended here, as the
 * branch was taken. PREDICTED: the share of the taken branches that were predicted.
 */
#include "client/render/annotation/table.h"

#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

#include "client/render/annotation/head.h"
#include "client/render/source-text.h"
#include "client/term/elide.h"
#include "client/term/text.h"
#include "client/top/top.h"
#include "common/util/cleanup.h"
#include "common/util/percent.h"

#define HOT_PERCENT   75
#define DIM_PERCENT   1
#define MIN_SHARE     0.05 /* percent; smaller ones would show as 0.0 and are left out */
#define MIN_TEXT      12   /* columns */
#define READABLE_TEXT 20   /* of instructions without notes */
#define MIN_DATA      8    /* with its mark */
#define TEXT_COLUMNS  32   /* enough for most instructions, */
#define NOTE_COLUMNS  26   /* ENTERED, TAKEN and PREDICTED */
#define TAB_COLUMNS   8

#define MAX_TEXT_COLUMNS 56 /* and for those that name data */

struct arrows {
	const char *up, *down, *out;
};

struct page {
	const struct annotation *annotation;
	FILE *f;
	size_t width; /* 0: unlimited */
	bool colors;
	struct arrows arrows;
	int address_digits;
	bool no_notes, no_cycles, no_address; /* left out, where there is no room */
	size_t text_columns;                  /* of an instruction, so that notes are aligned */
	struct source_text *source;           /* NULL: without source lines */
	const char *file;                     /* of the line shown last */
	uint32_t line;
};

static struct arrows choose_arrows(void)
{
	if (strcmp(nl_langinfo(CODESET), "UTF-8") == 0)
		return (struct arrows){ "↑", "↓", "→" };
	return (struct arrows){ "^", "v", "->" };
}

static uint64_t address_of(const struct page *page, uint64_t offset)
{
	struct location at = { page->annotation->span->object, offset };

	return place_find(&page->annotation->places, at).address;
}

static double coverage_percent(const struct page *page, const struct annotation_line *line)
{
	return line->range ? percent_of(line->range->coverage, page->annotation->max_coverage) : 0;
}

static bool has_cycles(const struct page *page)
{
	return page->annotation->has_cycles && !page->no_cycles;
}

static size_t columns_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80; /* the first byte of a character */
	return n;
}

/* The numbers before the instruction: shares, cycles, address. Returns their columns. */
static int write_numbers(const struct page *page, const struct annotation_line *line)
{
	const struct annotation *a = page->annotation;
	double self = percent_of(line->samples, a->samples);
	int n = 0;

	if (line->samples > 0)
		n += fprintf(page->f, "%6.2f%%", self);
	else
		n += fprintf(page->f, "%7s", "");
	if (line->range)
		n += fprintf(page->f, " %6.2f%%", coverage_percent(page, line));
	else if (a->max_coverage > 0)
		n += fprintf(page->f, " %7s", "-");
	if (has_cycles(page) && line->timed_runs > 0)
		n += fprintf(page->f, " %6.1f %5.2f",
			     (double)line->cycles / (double)line->timed_runs,
			     annotation_line_ipc(line));
	else if (has_cycles(page))
		n += fprintf(page->f, " %12s", "");
	if (page->no_address)
		return n + fprintf(page->f, "  ");
	return n + fprintf(page->f, "  %*" PRIx64 "  ", page->address_digits,
			   address_of(page, line->offset));
}

static void trim(char *text)
{
	size_t n = strlen(text);

	while (n > 0 && text[n - 1] == ' ')
		text[--n] = '\0';
}

/* "  +50.0%  -12.5%     98.0%", without blanks at its end. */
static void format_note(char *ret, size_t n, const struct annotation_line *line)
{
	const struct profile_range *range = line->range;
	uint64_t n_known = range ? range->predicted + range->mispredicted : 0;
	char entry[32] = "", taken[32] = "", predicted[32] = "";
	double share;

	if (range && line->begins && range->is_target) {
		share = percent_of(range->entry, range->coverage);
		if (share >= MIN_SHARE)
			snprintf(entry, sizeof(entry), "+%.1f%%", share);
	}
	if (range && line->ends && range->is_branch) {
		share = percent_of(range->taken, range->coverage);
		if (share >= MIN_SHARE)
			snprintf(taken, sizeof(taken), "-%.1f%%", share);
		if (share >= MIN_SHARE && n_known > 0)
			snprintf(predicted, sizeof(predicted), "%.1f%%",
				 percent_of(range->predicted, n_known));
	}
	snprintf(ret, n, " %7s %7s %9s", entry, taken, predicted);
	trim(ret);
}

static bool leads_inside(const struct annotation *a, const struct annotation_line *line)
{
	return line->target.object == a->span->object &&
	       line->target.offset - a->span->start < a->span->size;
}

static bool names_target(const struct annotation_line *line)
{
	return line->kind == BRANCH_COND || line->kind == BRANCH_JMP || line->kind == BRANCH_CALL;
}

/* The target, in at most @room columns: "↓", "↓ 1234", "→ puts@plt". A heap string, or NULL. */
static char *format_target(const struct page *page, const struct annotation_line *line, size_t room)
{
	const struct annotation *a = page->annotation;
	struct place place = place_find(&a->places, line->target);
	bool down = line->target.offset > line->offset;
	_cleanup_free_ char *name = NULL;
	_cleanup_free_ char *fitting = NULL;
	char *text;

	if (leads_inside(a, line)) {
		const char *arrow = down ? page->arrows.down : page->arrows.up;

		if (names_target(line))
			return strdup(arrow);
		return asprintf(&text, "%s %" PRIx64, arrow, place.address) < 0 ? NULL : text;
	}
	if (place.function && place.function->start == place.offset)
		name = strdup(place.function->name);
	else
		name = place_format(&place);
	fitting = name ? elide_name(name, room) : NULL;
	if (!fitting || asprintf(&text, "%s %s", page->arrows.out, fitting) < 0)
		return NULL;
	return text;
}

/* What its data is called, in at most @room columns: "# table+0x10". A heap string, or NULL. */
static char *format_data(const struct parser_datum *datum, size_t room)
{
	_cleanup_free_ char *name = NULL;
	_cleanup_free_ char *fitting = NULL;
	char *text;
	int r;

	if (datum->is_slot)
		r = asprintf(&name, "%s@GOT", datum->name);
	else if (datum->offset > 0)
		r = asprintf(&name, "%s+0x%" PRIx64, datum->name, datum->offset);
	else
		r = asprintf(&name, "%s", datum->name);
	fitting = r < 0 ? NULL : elide_name(name, room);
	return fitting && asprintf(&text, "# %s", fitting) >= 0 ? text : NULL;
}

/*
 * The target of the line in the rest of @room columns behind *@n of the instruction. Where both do
 * not fit, a name takes the place of the address. NULL if there is none, or out of memory.
 */
static char *fit_target(const struct page *page, const struct annotation_line *line, size_t *n,
			size_t room)
{
	char *target = line->has_target ? format_target(page, line, SIZE_MAX) : NULL;

	if (!target || room == 0 || *n + 1 + columns_of(target) <= room)
		return target;
	free(target);
	if (names_target(line) && !leads_inside(page->annotation, line))
		*n = strcspn(line->text ?: "", " ");
	*n = MIN(*n, room - strlen(" ->"));
	target = format_target(page, line, room > *n + 3 ? room - *n - 3 : 1);
	if (target && *n + 1 + columns_of(target) > room)
		*strchrnul(target, ' ') = '\0'; /* the arrow alone */
	return target;
}

/* The instruction, its target and its data, in at most @room columns unless that is 0. A heap
 * string, or NULL. */
static char *format_text(const struct page *page, const struct annotation_line *line, size_t room)
{
	const char *instruction = line->text ?: "";
	size_t n = MIN(columns_of(instruction), room ?: SIZE_MAX), taken;
	_cleanup_free_ char *target = fit_target(page, line, &n, room);
	_cleanup_free_ char *data = NULL;
	char *text;

	if (line->has_target && !target)
		return NULL;
	taken = n + (target ? 1 + columns_of(target) : 0);
	if (line->data && line->data->name && (room == 0 || room >= taken + MIN_DATA)) {
		data = format_data(line->data, room ? room - taken - strlen(" # ") : SIZE_MAX);
		if (!data)
			return NULL;
	}
	if (asprintf(&text, "%.*s%s%s%s%s", (int)n, instruction, target ? " " : "", target ?: "",
		     data ? " " : "", data ?: "") < 0)
		return NULL;
	return text;
}

/* @filled with blanks up to the notes. */
static int write_text(const struct page *page, const struct annotation_line *line, size_t room,
		      bool filled)
{
	_cleanup_free_ char *text = format_text(page, line, room);
	size_t n;

	if (!text)
		return -ENOMEM;
	text_write(page->f, text);
	n = columns_of(text);
	if (filled && n < page->text_columns && (room == 0 || room >= page->text_columns))
		fprintf(page->f, "%*s", (int)(page->text_columns - n), "");
	return 0;
}

static const char *color_of(const struct page *page, const struct annotation_line *line)
{
	double percent = coverage_percent(page, line);

	if (!page->colors || page->annotation->max_coverage == 0)
		return "";
	if (percent > HOT_PERCENT)
		return COLOR_RED(true);
	return percent < DIM_PERCENT ? COLOR_DIM(true) : "";
}

static int write_line(const struct page *page, const struct annotation_line *line)
{
	const char *color = color_of(page, line);
	char note[96] = "";
	size_t taken, room = 0;
	int r;

	fputs(color, page->f);
	if (!page->no_notes)
		format_note(note, sizeof(note), line);
	taken = (size_t)write_numbers(page, line) + strlen(note);
	if (page->width > 0)
		room = page->width > taken + MIN_TEXT ? page->width - taken : MIN_TEXT;
	r = write_text(page, line, room, *note);
	fprintf(page->f, "%s%s\n", note, *color ? COLOR_RESET(true) : "");
	return r;
}

/* Expands tabs, and truncates the text at the terminal's width. */
static void write_source_text(const struct page *page, const char *text, size_t column)
{
	_cleanup_free_ char *line = NULL;
	size_t n = 0, room = page->width > column ? page->width - column : 0, n_bytes;
	FILE *f = open_memstream(&line, &n_bytes);

	if (!f)
		return;
	for (; *text && *text != '\r' && (page->width == 0 || n < room); text++) {
		size_t blanks = *text == '\t' ? TAB_COLUMNS - n % TAB_COLUMNS : 0;

		if (blanks > 0)
			fprintf(f, "%*s", (int)blanks, "");
		else
			fputc(*text, f);
		n += blanks > 0 ? blanks : ((unsigned char)*text & 0xc0) != 0x80;
	}
	if (fclose(f) == 0)
		text_write(page->f, line);
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Writes the line if it differs from that of the instruction before. */
static void write_source(struct page *page, const struct annotation_line *line)
{
	const struct annotation *a = page->annotation;
	struct source_frame frame;
	const char *text;
	char where[64];
	int n;

	if (!page->source ||
	    symbolizer_lines(a->source->symbolizer, &a->source->all->objects[a->span->object],
			     line->offset, &frame, 1) < 1)
		return;
	if (!frame.file ||
	    (page->file && strcmp(page->file, frame.file) == 0 && page->line == frame.line))
		return;
	page->file = frame.file;
	page->line = frame.line;
	text = source_text_line(page->source, frame.file, frame.line);
	n = snprintf(where, sizeof(where), "%.40s:%" PRIu32, last_component(frame.file),
		     frame.line);
	fputs(COLOR_BOLD(page->colors), page->f);
	text_write(page->f, where);
	if (text && *text) {
		fprintf(page->f, "%*s", n < 17 ? 18 - n : 1, "");
		write_source_text(page, text, (size_t)MAX(n + 1, 18));
	}
	fprintf(page->f, "%s\n", COLOR_RESET(page->colors));
}

static void write_headings(const struct page *page)
{
	const struct annotation *a = page->annotation;
	const char *text = a->origin == CODE_NONE ? "" : "INSTRUCTION";
	bool branches = a->max_coverage > 0, notes = branches && !page->no_notes;

	fprintf(page->f, "%s%7s%s%s  ", COLOR_BOLD(page->colors), "SELF",
		branches ? "   COVER" : "", has_cycles(page) ? " CYCLES   IPC" : "");
	if (!page->no_address)
		fprintf(page->f, "%*s  ", page->address_digits, "ADDR");
	fprintf(page->f, "%-*s%s%s\n", notes ? (int)page->text_columns : 0, text,
		notes ? " ENTERED   TAKEN PREDICTED" : "", COLOR_RESET(page->colors));
}

/* The columns before an instruction. */
static size_t number_columns(const struct page *page)
{
	const struct annotation *a = page->annotation;
	size_t n = strlen("100.00%") + strlen("  ");

	if (!page->no_address)
		n += strlen("  ") + (size_t)page->address_digits;
	if (a->max_coverage > 0)
		n += strlen(" 100.00%");
	return has_cycles(page) ? n + strlen(" CYCLES   IPC") : n;
}

/* A narrow terminal has no room for all columns beside instructions that can be read. */
static void choose_columns(struct page *page)
{
	bool has_code = page->annotation->origin != CODE_NONE;
	size_t width = page->width ?: SIZE_MAX;

	if (page->annotation->max_coverage == 0)
		page->no_notes = true;
	else
		page->no_notes = number_columns(page) + MIN_TEXT + NOTE_COLUMNS > width;
	page->no_cycles = number_columns(page) + READABLE_TEXT > width;
	page->no_address = has_code && number_columns(page) + READABLE_TEXT > width;
}

/* Those of the longest instruction with notes, within limits. */
static size_t text_columns_of(const struct page *page)
{
	const struct annotation *a = page->annotation;
	size_t n = TEXT_COLUMNS;

	for (size_t i = 0; i < a->n_lines && n < MAX_TEXT_COLUMNS; i++) {
		_cleanup_free_ char *text = NULL;
		char note[96];

		format_note(note, sizeof(note), &a->lines[i]);
		text = *note ? format_text(page, &a->lines[i], MAX_TEXT_COLUMNS) : NULL;
		n = MAX(n, text ? columns_of(text) : 0);
	}
	return n;
}

static size_t choose_text_columns(const struct page *page)
{
	size_t taken = number_columns(page) + NOTE_COLUMNS, wanted = text_columns_of(page);

	if (page->width == 0 || page->width >= taken + wanted)
		return wanted;
	return page->width > taken + MIN_TEXT ? page->width - taken : MIN_TEXT;
}

static int count_digits(uint64_t address)
{
	int n = 1;

	while (address >>= 4)
		n++;
	return n;
}

int annotation_write_table(const struct annotation *annotation, struct output *output,
			   bool with_source)
{
	_cleanup_(source_text_freep) struct source_text *source = NULL;
	struct page page = {
		.annotation = annotation,
		.f = output->f,
		.width = output->width,
		.colors = output->colors,
		.arrows = choose_arrows(),
	};
	int r = 0;

	page.address_digits = MAX(
		4,
		count_digits(address_of(&page, annotation->span->start + annotation->span->size)));
	choose_columns(&page);
	page.text_columns = choose_text_columns(&page);
	if (with_source) {
		r = source_text_new(&source) ?: annotation_load_lines(annotation);
		page.source = source;
	}
	if (r >= 0)
		r = annotation_write_head(annotation, output);
	write_headings(&page);
	for (size_t i = 0; r >= 0 && i < annotation->n_lines; i++) {
		write_source(&page, &annotation->lines[i]);
		r = write_line(&page, &annotation->lines[i]);
	}
	return r;
}
