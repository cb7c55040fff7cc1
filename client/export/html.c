/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A page with a flame graph: one file, which needs no network. The stacks are JSON in it, and the
 * files of the folder page draw them; without scripts it is a table of the hottest functions. Names
 * are escaped, see clean-text.h, and the page permits only its own script and style.
 *
 * The JSON has one side, or the old and the new one of a difference. Frames and processes are named
 * by their numbers:
 *   {"sides": [{"unit": counts that are one independent sample,
 *               "processes": [[comm, pid, unit], ...], "frames": [[name, object, line, kind], ...],
 *               "rows": [[row of the caller, frame, process, samples of its own], ...]}]}
 * Where a row's samples are estimated, it ends with what that adds to their variance.
 */
#include <inttypes.h>

#include "client/export/call-tree.h"
#include "client/export/clean-text.h"
#include "client/export/origin.h"
#include "client/export/writers.h"
#include "client/top/share.h"
#include "common/profile/scale.h"
#include "common/util/cleanup.h"

#include "client/export/page.inc"
#include "client/term/text.h"

#define N_PLAIN 100 /* rows of the table */

/* KIND in page/tree.js */
enum kind {
	KIND_USER,
	KIND_KERNEL,
	KIND_UNKNOWN,
};

static enum kind kind_of(const struct call_tree_frame *frame)
{
	if (!frame->object)
		return KIND_UNKNOWN;
	return frame->object->kind == OBJECT_KERNEL || frame->object->kind == OBJECT_MODULE ?
		       KIND_KERNEL :
		       KIND_USER;
}

static void write_line(const struct places *places, const struct call_tree_frame *frame, FILE *f)
{
	struct place place = { .file = NULL };
	_cleanup_free_ char *text = NULL;

	if (places->lines && frame->object)
		place = place_find(places, frame->at);
	if (place.file && asprintf(&text, "%s:%" PRIu32, place.file, place.line) < 0)
		text = NULL;
	clean_text_json(f, text ?: "");
}

static void write_frames(const struct places *places, const struct call_tree *tree, FILE *f)
{
	for (size_t i = 0; i < tree->n_frames; i++) {
		const struct call_tree_frame *frame = &tree->frames[i];

		fputs(i > 0 ? ",\n[" : "\n[", f);
		clean_text_json(f, frame->name);
		putc(',', f);
		clean_text_json(f, frame->object ? frame->object->path : "");
		putc(',', f);
		write_line(places, frame, f);
		fprintf(f, ",%d]", kind_of(frame));
	}
}

static void write_processes(const struct profile *profile, FILE *f)
{
	for (size_t i = 0; i < profile->n_processes; i++) {
		const struct profile_process *process = &profile->processes[i];

		fputs(i > 0 ? ",\n[" : "\n[", f);
		clean_text_json(f, process->comm);
		if (process->pid >= 0)
			fprintf(f, ",%" PRId32 ",", process->pid);
		else
			fputs(",null,", f);
		if (process->unit)
			clean_text_json(f, process->unit);
		else
			fputs("null", f);
		putc(']', f);
	}
}

static void write_number(uint32_t number, FILE *f)
{
	if (number == PROFILE_NONE)
		fputs("null", f);
	else
		fprintf(f, "%" PRIu32, number);
}

static void write_rows(const struct call_tree *tree, FILE *f)
{
	for (size_t i = 0; i < tree->n_rows; i++) {
		const struct call_tree_row *row = &tree->rows[i];

		fputs(i > 0 ? ",\n[" : "\n[", f);
		write_number(row->parent, f);
		fprintf(f, ",%" PRIu32 ",", row->frame);
		write_number(row->process, f);
		fprintf(f, ",%" PRIu64, row->samples);
		if (row->variance > 0)
			fprintf(f, ",%" PRIu64, row->variance);
		putc(']', f);
	}
}

static int write_side(const struct profile_source *source, const struct places *places, FILE *f)
{
	_cleanup_(call_tree_freep) struct call_tree *tree = NULL;
	int r = call_tree_new(&tree, places, CALL_TREE_BY_OBJECT);

	if (r < 0)
		return r;
	fprintf(f, "{\"unit\":%.6g,\n\"processes\":[", profile_sample_unit(&source->all->counters));
	write_processes(places->profile, f);
	fputs("],\n\"frames\":[", f);
	write_frames(places, tree, f);
	fputs("],\n\"rows\":[", f);
	write_rows(tree, f);
	fputs("]}", f);
	return 0;
}

static int write_data(const struct export_input *input, FILE *f)
{
	int r = 0;

	fputs("<script type=\"application/json\" id=\"data\">\n{\"sides\":[", f);
	if (input->older) {
		r = write_side(input->older, &input->older_places, f);
		fputs(",\n", f);
	}
	if (r >= 0)
		r = write_side(input->source, &input->places, f);
	fputs("]}\n</script>\n", f);
	return r;
}

static void write_name(const struct export_input *input, FILE *f)
{
	if (input->older) {
		clean_text_html(f, input->older->name);
		fputs(" → ", f);
	}
	clean_text_html(f, input->source->name);
}

static void write_what(const struct profile_source *source, FILE *f)
{
	double seconds = (double)origin_length_ns(source) / 1e9;
	uint64_t n = source->shown->counters.samples;

	fprintf(f, "%" PRIu64 " sample%s of ", n, text_plural(n));
	clean_text_html(f, origin_event(source));
	fprintf(f, " in %.*f s", seconds < 10 ? 3 : 1, seconds);
}

static void write_head(const struct export_input *input, FILE *f)
{
	fprintf(f,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"script-src '%s'; style-src '%s'\">\n<title>",
		page_script_hash, page_style_hash);
	write_name(input, f);
	fprintf(f, "</title>\n<style>%s</style>\n</head>\n<body>\n<h1>", page_style);
	write_name(input, f);
	fputs("</h1>\n<p id=\"what\">", f);
	if (input->older) {
		write_what(input->older, f);
		fputs(" → ", f);
	}
	write_what(input->source, f);
	fputs("</p>\n", f);
}

static const char tools[] =
	"<div class=\"tools\" data-script hidden>\n"
	"<input id=\"search\" type=\"search\" placeholder=\"Search functions (/)\" "
	"aria-label=\"Search functions\">\n<span id=\"found\" role=\"status\"></span>\n"
	"<label>Group by <select id=\"by\"><option value=\"none\">nothing</option>"
	"<option value=\"process\">process</option><option value=\"unit\">unit</option>"
	"</select></label>\n"
	"<label data-script=\"diff\" hidden>Widths <select id=\"wide\"><option value=\"1\">new"
	"</option><option value=\"0\">old</option></select></label>\n"
	"<button id=\"flip\" type=\"button\" aria-pressed=\"false\">Icicle</button>\n"
	"<button id=\"all\" type=\"button\">Show all (Esc)</button>\n</div>\n"
	"<div id=\"graph\" tabindex=\"0\" role=\"application\" data-script hidden "
	"aria-label=\"Flame "
	"graph. Arrows go to callers and callees, Enter zooms, Escape shows all, slash searches.\" "
	"aria-describedby=\"about\"><canvas id=\"canvas\"></canvas><div id=\"space\"></div></div>\n"
	"<div id=\"tip\" hidden></div>\n"
	"<div id=\"about\" role=\"status\" data-script hidden></div>\n"
	"<p id=\"legend\" data-script hidden>";

static void write_tools(const struct export_input *input, FILE *f)
{
	fputs(tools, f);
	fputs("Click or Enter: zoom. Arrows: move. Esc: show all. /: search.<br>", f);
	fputs(input->older ? "Red and ▲: grew. Blue and ▼: shrank. Pale: within noise. Hatched: "
			     "kernel." :
			     "Orange: user code. Blue and hatched: kernel. Grey: unknown.",
	      f);
	fputs(" In brackets: the 95 % interval of the share.</p>\n", f);
}

static void write_plain_row(const struct export_input *input, const struct share *row, FILE *f)
{
	const struct profile_object *object = NULL;
	double all = (double)input->source->shown->counters.samples;

	fprintf(f,
		"<tr><td class=\"n\">%.2f %%</td><td class=\"n\">%.2f %%</td><td "
		"class=\"n wide\">%" PRIu64 "</td><td>",
		100 * (double)row->self / all, 100 * (double)row->total / all, row->self);
	if (row->key.object != PROFILE_NONE)
		object = &input->source->shown->objects[row->key.object];
	clean_text_html(f, place_object_name(object));
	fputs("</td><td>", f);
	clean_text_html(f, row->key.symbol ?: "[unknown]");
	fputs("</td></tr>\n", f);
}

static int write_plain(const struct export_input *input, FILE *f)
{
	_cleanup_(shares_freep) struct shares *functions = NULL;
	int r = view_functions(&functions, input->source->shown);

	if (r < 0)
		return r;
	fputs("<details id=\"plain\" open><summary>The hottest functions", f);
	if (input->older) {
		fputs(" of ", f);
		clean_text_html(f, input->source->name);
	}
	fputs("</summary>\n<table>\n<thead>"
	      "<tr><th class=\"n\">Self</th><th class=\"n\">Total</th><th class=\"n "
	      "wide\">Samples</th>"
	      "<th>Object</th><th>Function</th></tr></thead>\n<tbody>\n",
	      f);
	for (size_t i = 0; i < functions->n_rows && i < N_PLAIN; i++)
		write_plain_row(input, &functions->rows[i], f);
	fputs("</tbody>\n</table>\n</details>\n", f);
	return 0;
}

int html_write(const struct export_input *input, FILE *f)
{
	int r;

	write_head(input, f);
	write_tools(input, f);
	r = write_plain(input, f);
	if (r >= 0)
		r = write_data(input, f);
	fprintf(f, "<script>%s</script>\n</body>\n</html>\n", page_script);
	return r;
}
