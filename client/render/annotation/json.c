/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/annotation/json.h"

#include "client/render/json.h"
#include "client/top/top.h"
#include "common/util/percent.h"

#define PRECISION JSON_REAL_PRECISION(9)

static const char *const origins[] = {
	[CODE_NONE] = NULL,
	[CODE_FILE] = "file",
	[CODE_DAEMON] = "daemon",
	[CODE_KERNEL] = "kernel",
};

struct page {
	const struct annotation *annotation;
	struct places places; /* with lines, where they are wanted */
};

static json_t *json_count(uint64_t count)
{
	return json_integer((json_int_t)count);
}

static json_t *json_share(uint64_t part, uint64_t all)
{
	return all > 0 ? json_real(percent_of(part, all)) : json_null();
}

static json_t *json_at(const struct page *page, struct location at)
{
	struct place place = place_find(&page->places, at);

	return json_place(&place);
}

static json_t *json_offset(const struct page *page, uint64_t offset)
{
	return json_at(page, (struct location){ page->annotation->span->object, offset });
}

static json_t *json_range(const struct page *page, const struct profile_range *range)
{
	json_t *row =
		json_pack("{s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:o}", "start",
			  json_offset(page, range->start), "end", json_offset(page, range->end),
			  "is_target", range->is_target, "is_branch", range->is_branch, "coverage",
			  json_count(range->coverage), "entry", json_count(range->entry), "taken",
			  json_count(range->taken), "rows", json_count(range->rows));

	json_object_set_new(row, "predicted", json_count(range->predicted));
	json_object_set_new(row, "mispredicted", json_count(range->mispredicted));
	json_object_set_new(row, "cycles", json_count(range->cycles));
	json_object_set_new(row, "cycles_rows", json_count(range->cycles_rows));
	return row;
}

static void add_target(json_t *row, const struct annotation_line *line)
{
	const struct profile_range *range = line->range;

	json_object_set_new(row, "entered_percent",
			    range && line->begins && range->is_target ?
				    json_share(range->entry, range->coverage) :
				    json_null());
}

static void add_branch(const struct page *page, json_t *row, const struct annotation_line *line)
{
	const struct profile_range *range =
		line->ends && line->range->is_branch ? line->range : NULL;

	json_object_set_new(row, "kind", json_text(branch_kind_name(line->kind)));
	json_object_set_new(row, "target",
			    line->has_target ? json_at(page, line->target) : json_null());
	json_object_set_new(row, "taken_percent",
			    range ? json_share(range->taken, range->coverage) : json_null());
	json_object_set_new(
		row, "predicted_percent",
		range ? json_share(range->predicted, range->predicted + range->mispredicted) :
			json_null());
	json_object_set_new(row, "average_cycles",
			    line->timed_runs > 0 ?
				    json_real((double)line->cycles / (double)line->timed_runs) :
				    json_null());
	json_object_set_new(row, "ipc",
			    line->cycles > 0 ? json_real(annotation_line_ipc(line)) : json_null());
}

static json_t *json_data(const struct annotation_line *line)
{
	const struct parser_datum *data = line->data;

	if (!line->has_data)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o}", "address", json_address(line->data_address),
			 "symbol", json_text(data ? data->name : NULL), "symbol_offset",
			 data && data->name ? json_count(data->offset) : json_null(), "got_entry",
			 data ? json_boolean(data->is_slot) : json_null());
}

static json_t *json_line_of(const struct page *page, const struct annotation_line *line)
{
	const struct annotation *a = page->annotation;
	uint64_t coverage = line->range ? line->range->coverage : 0;
	json_t *row =
		json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "at",
			  json_offset(page, line->offset), "size", json_count(line->size), "text",
			  json_text(line->text), "samples", json_count(line->samples), "percent",
			  json_share(line->samples, a->samples), "coverage", json_count(coverage),
			  "coverage_percent", json_share(coverage, a->max_coverage));

	add_target(row, line);
	add_branch(page, row, line);
	json_object_set_new(row, "data", json_data(line));
	return row;
}

static json_t *json_head(const struct page *page)
{
	const struct annotation *a = page->annotation;
	double ipc = annotation_ipc(a);

	return json_pack("{s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o}", "start",
			 json_offset(page, a->span->start), "size", json_count(a->span->size),
			 "code", json_text(origins[a->origin]), "cut", a->truncated, "samples",
			 json_count(a->samples), "percent", json_share(a->samples, a->all_samples),
			 "max_coverage", json_count(a->max_coverage), "ipc",
			 ipc > 0 ? json_real(ipc) : json_null());
}

static int write_lines(const struct page *page, FILE *f)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < page->annotation->n_lines; i++) {
		fputs(i > 0 ? ",\n" : "\n", f);
		r = json_write(f, json_line_of(page, &page->annotation->lines[i]), PRECISION);
	}
	return r;
}

static int write_ranges(const struct page *page, FILE *f)
{
	const struct code_span *span = page->annotation->span;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < span->n_ranges; i++) {
		fputs(i > 0 ? ",\n" : "\n", f);
		r = json_write(f, json_range(page, &span->ranges[i]), PRECISION);
	}
	return r;
}

/* Members of an object that the caller begins and ends. */
static int write_members(const struct annotation *annotation, FILE *f, bool with_source)
{
	struct page page = { annotation, annotation->places };
	int r = with_source ? annotation_load_lines(annotation) : 0;

	if (r < 0)
		return r;
	page.places.lines = with_source;
	fputs("\"function\": ", f);
	r = json_write(f, json_head(&page), PRECISION);
	fputs(", \"instructions\": [", f);
	if (r >= 0)
		r = write_lines(&page, f);
	fputs("], \"ranges\": [", f);
	if (r >= 0)
		r = write_ranges(&page, f);
	fputs("]}", f);
	return r;
}

static int begin(const struct profile_source *source, FILE *f)
{
	fputs("{\"windows\": ", f);
	return json_write(f, json_windows(source), JSON_TIME_PRECISION);
}

int annotation_write_json(const struct annotation *annotation, FILE *f, bool with_source)
{
	int r = begin(annotation->source, f);

	fputs(", ", f);
	if (r >= 0)
		r = write_members(annotation, f, with_source);
	fputc('\n', f);
	return r;
}

int annotation_begin_json(const struct profile_source *source, FILE *f)
{
	int r = begin(source, f);

	fputs(", \"functions\": [", f);
	return r;
}

int annotation_add_json(const struct annotation *annotation, size_t i, FILE *f, bool with_source)
{
	fputs(i > 0 ? ",\n{" : "\n{", f);
	return write_members(annotation, f, with_source);
}

void annotation_end_json(FILE *f)
{
	fputs("]}\n", f);
}
