/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The processed format of the Firefox Profiler, version 48. A process is a thread of it. A profile
 * has no times of samples, so the stacks of a process are spread evenly over the whole time; only
 * their weights mean something.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "client/export/call-tree.h"
#include "client/export/clean-text.h"
#include "client/export/origin.h"
#include "client/export/writers.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

enum category {
	CATEGORY_USER,
	CATEGORY_KERNEL,
};

struct writing {
	const struct export_input *input;
	struct call_tree *tree;
	uint32_t *order;   /* the rows, by process */
	uint32_t *numbers; /* of the rows in the thread being written */
	uint32_t *frames;  /* of the frames there, plus 1; 0: none yet */
	uint32_t *used;    /* the frames there */
	size_t n_used;
	uint32_t *resources; /* of the objects there, plus 1; 0: none yet */
	uint32_t *objects;   /* the objects there */
	size_t n_objects;
	FILE *f;
};

static void writing_done(struct writing *w)
{
	call_tree_free(w->tree);
	free(w->order);
	free(w->numbers);
	free(w->frames);
	free(w->used);
	free(w->resources);
	free(w->objects);
}

static enum category category_of(const struct call_tree_frame *frame)
{
	if (!frame->object || frame->object->kind == OBJECT_FILE)
		return CATEGORY_USER;
	return frame->object->kind == OBJECT_KERNEL || frame->object->kind == OBJECT_MODULE ?
		       CATEGORY_KERNEL :
		       CATEGORY_USER;
}

/* Sorted by process, and within it as before, so that parents come first. */
static int order_rows(struct writing *w)
{
	const struct profile *shown = w->input->source->shown;
	_cleanup_free_ size_t *next = NULL;
	size_t n = 0;

	if (ARRAY_ALLOCATE_ZEROED(&next, shown->n_processes + 1) < 0 ||
	    ARRAY_ALLOCATE(&w->order, w->tree->n_rows) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < w->tree->n_rows; i++)
		next[MIN(w->tree->rows[i].process, (uint32_t)shown->n_processes)]++;
	for (size_t i = 0; i <= shown->n_processes; i++) {
		size_t count = next[i];

		next[i] = n;
		n += count;
	}
	for (size_t i = 0; i < w->tree->n_rows; i++) {
		uint32_t process = MIN(w->tree->rows[i].process, (uint32_t)shown->n_processes);

		w->order[next[process]++] = (uint32_t)i;
	}
	return 0;
}

static int init(struct writing *w, const struct export_input *input, FILE *f)
{
	size_t n_objects = input->source->shown->n_objects;
	int r;

	*w = (struct writing){ .input = input, .f = f };
	r = call_tree_new(&w->tree, &input->places, CALL_TREE_BY_OBJECT);
	if (r >= 0)
		r = order_rows(w);
	if (r >= 0 && (ARRAY_ALLOCATE(&w->numbers, w->tree->n_rows) < 0 ||
		       ARRAY_ALLOCATE_ZEROED(&w->frames, w->tree->n_frames) < 0 ||
		       ARRAY_ALLOCATE(&w->used, w->tree->n_frames) < 0 ||
		       ARRAY_ALLOCATE_ZEROED(&w->resources, n_objects) < 0 ||
		       ARRAY_ALLOCATE(&w->objects, n_objects) < 0))
		r = -ENOMEM;
	return r;
}

/* The place of @frame's object in the arrays of objects; there is one. */
static size_t object_of(const struct writing *w, uint32_t frame)
{
	return (size_t)(w->tree->frames[frame].object - w->input->source->shown->objects);
}

static void use_object(struct writing *w, uint32_t frame)
{
	size_t object;

	if (!w->tree->frames[frame].object)
		return;
	object = object_of(w, frame);
	if (w->resources[object] > 0)
		return;
	w->objects[w->n_objects++] = (uint32_t)object;
	w->resources[object] = (uint32_t)w->n_objects;
}

static void forget_last_thread(struct writing *w)
{
	for (size_t i = 0; i < w->n_used; i++)
		w->frames[w->used[i]] = 0;
	for (size_t i = 0; i < w->n_objects; i++)
		w->resources[w->objects[i]] = 0;
	w->n_used = 0;
	w->n_objects = 0;
}

/* Numbers the frames that the @n rows use, and their objects. */
static void use_frames(struct writing *w, const uint32_t *rows, size_t n)
{
	forget_last_thread(w);
	for (size_t i = 0; i < n; i++) {
		uint32_t frame = w->tree->rows[rows[i]].frame;

		w->numbers[rows[i]] = (uint32_t)i;
		if (w->frames[frame] > 0)
			continue;
		w->used[w->n_used++] = frame;
		w->frames[frame] = (uint32_t)w->n_used;
		use_object(w, frame);
	}
}

/* A column: @n times what @cell writes. */
typedef void (*cell_handler)(const struct writing *w, const uint32_t *rows, size_t i);

static void write_column(const struct writing *w, const char *name, const uint32_t *rows, size_t n,
			 cell_handler cell)
{
	fprintf(w->f, "\"%s\":[", name);
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			putc(',', w->f);
		cell(w, rows, i);
	}
	fputs("],", w->f);
}

static void put_number(const struct writing *w, const uint32_t *rows, size_t i)
{
	fprintf(w->f, "%zu", i);
}

static void put_zero(const struct writing *w, const uint32_t *rows, size_t i)
{
	putc('0', w->f);
}

static void put_minus_one(const struct writing *w, const uint32_t *rows, size_t i)
{
	fputs("-1", w->f);
}

static void put_null(const struct writing *w, const uint32_t *rows, size_t i)
{
	fputs("null", w->f);
}

static void put_false(const struct writing *w, const uint32_t *rows, size_t i)
{
	fputs("false", w->f);
}

static void put_frame(const struct writing *w, const uint32_t *rows, size_t i)
{
	fprintf(w->f, "%" PRIu32, w->frames[w->tree->rows[rows[i]].frame] - 1);
}

static void put_prefix(const struct writing *w, const uint32_t *rows, size_t i)
{
	uint32_t parent = w->tree->rows[rows[i]].parent;

	if (parent == PROFILE_NONE)
		fputs("null", w->f);
	else
		fprintf(w->f, "%" PRIu32, w->numbers[parent]);
}

static void put_row_category(const struct writing *w, const uint32_t *rows, size_t i)
{
	fprintf(w->f, "%d", category_of(&w->tree->frames[w->tree->rows[rows[i]].frame]));
}

static void put_frame_category(const struct writing *w, const uint32_t *used, size_t i)
{
	fprintf(w->f, "%d", category_of(&w->tree->frames[used[i]]));
}

static void put_name(const struct writing *w, const uint32_t *used, size_t i)
{
	clean_text_json(w->f, w->tree->frames[used[i]].name);
}

static void put_resource(const struct writing *w, const uint32_t *used, size_t i)
{
	if (w->tree->frames[used[i]].object)
		fprintf(w->f, "%" PRIu32, w->resources[object_of(w, used[i])] - 1);
	else
		fputs("-1", w->f);
}

/* Names of frames come first in the array of strings, then those of objects. */
static void put_object_number(const struct writing *w, const uint32_t *objects, size_t i)
{
	fprintf(w->f, "%zu", w->n_used + i);
}

/* A library. */
static void put_one(const struct writing *w, const uint32_t *objects, size_t i)
{
	putc('1', w->f);
}

static void write_samples(const struct writing *w, const uint32_t *rows, size_t n)
{
	double length_ms = (double)origin_length_ns(w->input->source) / 1e6;
	const char *comma = "";
	size_t n_samples = 0;

	fputs("\"samples\":{\"weightType\":\"samples\",\"stack\":[", w->f);
	for (size_t i = 0; i < n; i++)
		if (w->tree->rows[rows[i]].samples > 0) {
			fprintf(w->f, "%s%zu", comma, i);
			comma = ",";
			n_samples++;
		}
	fputs("],\"weight\":[", w->f);
	comma = "";
	for (size_t i = 0; i < n; i++)
		if (w->tree->rows[rows[i]].samples > 0) {
			fprintf(w->f, "%s%" PRIu64, comma, w->tree->rows[rows[i]].samples);
			comma = ",";
		}
	fputs("],\"time\":[", w->f);
	for (size_t i = 0; i < n_samples; i++)
		fprintf(w->f, "%s%.6f", i > 0 ? "," : "",
			length_ms * (double)i / (double)n_samples);
	fprintf(w->f, "],\"length\":%zu},\n", n_samples);
}

static void write_tables(const struct writing *w, const uint32_t *rows, size_t n)
{
	fputs("\"stackTable\":{", w->f);
	write_column(w, "frame", rows, n, put_frame);
	write_column(w, "prefix", rows, n, put_prefix);
	write_column(w, "category", rows, n, put_row_category);
	write_column(w, "subcategory", rows, n, put_zero);
	fprintf(w->f, "\"length\":%zu},\n\"frameTable\":{", n);
	write_column(w, "address", w->used, w->n_used, put_minus_one);
	write_column(w, "inlineDepth", w->used, w->n_used, put_zero);
	write_column(w, "category", w->used, w->n_used, put_frame_category);
	write_column(w, "subcategory", w->used, w->n_used, put_zero);
	write_column(w, "func", w->used, w->n_used, put_number);
	write_column(w, "nativeSymbol", w->used, w->n_used, put_null);
	write_column(w, "innerWindowID", w->used, w->n_used, put_null);
	write_column(w, "implementation", w->used, w->n_used, put_null);
	write_column(w, "line", w->used, w->n_used, put_null);
	write_column(w, "column", w->used, w->n_used, put_null);
	fprintf(w->f, "\"length\":%zu},\n\"funcTable\":{", w->n_used);
	write_column(w, "name", w->used, w->n_used, put_number);
	write_column(w, "isJS", w->used, w->n_used, put_false);
	write_column(w, "relevantForJS", w->used, w->n_used, put_false);
	write_column(w, "resource", w->used, w->n_used, put_resource);
	write_column(w, "fileName", w->used, w->n_used, put_null);
	write_column(w, "lineNumber", w->used, w->n_used, put_null);
	write_column(w, "columnNumber", w->used, w->n_used, put_null);
	fprintf(w->f, "\"length\":%zu},\n\"resourceTable\":{", w->n_used);
	write_column(w, "lib", w->objects, w->n_objects, put_null);
	write_column(w, "name", w->objects, w->n_objects, put_object_number);
	write_column(w, "host", w->objects, w->n_objects, put_null);
	write_column(w, "type", w->objects, w->n_objects, put_one);
	fprintf(w->f, "\"length\":%zu},\n", w->n_objects);
}

static void write_strings(const struct writing *w)
{
	const struct profile_object *objects = w->input->source->shown->objects;

	fputs("\"stringArray\":[", w->f);
	for (size_t i = 0; i < w->n_used; i++) {
		if (i > 0)
			putc(',', w->f);
		put_name(w, w->used, i);
	}
	for (size_t i = 0; i < w->n_objects; i++) {
		putc(',', w->f);
		clean_text_json(w->f, place_object_name(&objects[w->objects[i]]));
	}
	fputs("]}", w->f);
}

/* The rows are those of one process. */
static void write_thread(struct writing *w, const uint32_t *rows, size_t n)
{
	uint32_t number = w->tree->rows[rows[0]].process;
	const struct profile_process *process =
		number == PROFILE_NONE ? NULL : &w->input->source->shown->processes[number];
	int32_t pid = process ? process->pid : -1;

	use_frames(w, rows, n);
	fputs("{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
	      "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\"isMainThread\":"
	      "true,"
	      "\"showMarkersInTimeline\":false,\"name\":",
	      w->f);
	clean_text_json(w->f, process && *process->comm ? process->comm : "[unknown]");
	fputs(",\"processName\":", w->f);
	clean_text_json(w->f, process && *process->comm ? process->comm : "[unknown]");
	/* a process may have several names in turn, and each is a thread */
	fprintf(w->f, ",\"pid\":\"%" PRId32 "\",\"tid\":\"%" PRId32 ".%" PRIu32 "\",\n", pid, pid,
		number);
	fputs("\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],"
	      "\"category\":[],\"length\":0},\n"
	      "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],"
	      "\"length\":0},\n",
	      w->f);
	write_samples(w, rows, n);
	write_tables(w, rows, n);
	write_strings(w);
}

static void write_meta(const struct writing *w)
{
	const struct profile_source *source = w->input->source;
	uint64_t start_ms = source->is_recording ? 0 : origin_start_ns(source) / 1000000;

	fprintf(w->f,
		"{\"meta\":{\"version\":29,\"preprocessedProfileVersion\":48,\"interval\":1,"
		"\"startTime\":%" PRIu64
		",\"processType\":0,\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,"
		"\"markerSchema\":[],\"extensions\":{\"length\":0,\"baseURL\":[],\"id\":[],"
		"\"name\":[]},"
		"\"categories\":[{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":["
		"\"Other\"]},"
		"{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}],"
		"\"importedFrom\":\"branchd\",\"product\":",
		start_ms);
	clean_text_json(w->f, source->name);
	fputs("},\n\"libs\":[],\"pages\":[],\"threads\":[\n", w->f);
}

int firefox_write(const struct export_input *input, FILE *f)
{
	_cleanup_(writing_done) struct writing w;
	int r = init(&w, input, f);
	size_t end;

	if (r < 0)
		return r;
	write_meta(&w);
	for (size_t i = 0; i < w.tree->n_rows; i = end) {
		uint32_t process = w.tree->rows[w.order[i]].process;

		for (end = i + 1; end < w.tree->n_rows; end++)
			if (w.tree->rows[w.order[end]].process != process)
				break;
		if (i > 0)
			fputs(",\n", f);
		write_thread(&w, &w.order[i], end - i);
	}
	fputs("]}\n", f);
	return 0;
}
