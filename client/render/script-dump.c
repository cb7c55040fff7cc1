/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A return address lies behind the call it returns to, and where that was the last instruction of a
 * function it lies in the next one. So callers are looked up one byte before, and printed as
 * they are: "fail+0x40" where fail is 0x40 bytes long means its very end.
 */
#include "client/render/script-dump.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/render/branch-text.h"
#include "client/render/problems.h"
#include "client/source/function-ranges.h"
#include "client/term/progress.h"
#include "client/term/text.h"
#include "common/builder/function-finder.h"
#include "common/builder/load.h"
#include "common/process/processes.h"
#include "common/profile/filter.h"
#include "common/record/recording.h"
#include "common/stitch/stack.h"
#include "common/symbol/symbolizer.h"
#include "common/util/cleanup.h"

#define MAX_INLINED 64

struct script_dump {
	const struct script_dump_settings *settings;
	struct recording *recording;
	struct processes *processes;
	struct symbolizer *symbolizer;
	struct unwinder *unwinder;
	struct stitch *stitch; /* NULL: not wanted */
	struct function_finder functions;
	struct stack stack; /* of the sample being written */
	uint32_t source;
	struct recording_damage damage;
};

/* A frame, located and named. */
struct frame {
	uint64_t address;            /* in the process */
	uint64_t offset;             /* in the object */
	uint64_t lookup;             /* the same, or of a return address the byte before */
	const struct object *object; /* NULL: none */
	struct symbol symbol;        /* of no name where there is none */
};

static int check_readable_twice(const char *path, struct fault *fault)
{
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return fault_set(fault, -ESPIPE,
				 "%s: dump --samples reads the recording twice; "
				 "write it to a file first",
				 path);
	return 0;
}

static int open_recording(struct script_dump *samples, struct fault *fault)
{
	samples->recording = recording_free(samples->recording);
	return recording_open(&samples->recording, samples->settings->path,
			      samples->settings->force, fault);
}

/* Once to the end. */
static int read_through(struct script_dump *samples, struct fault *fault)
{
	struct progress progress;
	struct event event;
	uint64_t done, all;
	unsigned int n = 0;
	int r;

	progress_init(&progress);
	while ((r = recording_next(samples->recording, &event, fault)) > 0) {
		if (n++ % 1024 == 0) {
			recording_progress(samples->recording, &done, &all);
			progress_update(done, all, &progress);
		}
	}
	progress_done(&progress);
	return r;
}

static int choose_source(struct script_dump *samples, struct fault *fault)
{
	int64_t source = load_choose_source(samples->recording, samples->settings->event, fault);

	if (source < 0)
		return (int)source;
	samples->source = (uint32_t)source;
	return 0;
}

static int first_reading(struct script_dump *samples, struct fault *fault)
{
	const struct recording_damage *damage;
	int r;

	r = open_recording(samples, fault);
	if (r >= 0)
		r = read_through(samples, fault);
	if (r >= 0)
		r = choose_source(samples, fault);
	if (r < 0)
		return r;
	damage = recording_forced(samples->recording);
	if (damage)
		samples->damage = *damage;
	return 0;
}

static int get_table(const struct profile_object *object, struct unwind_table *ret, void *userdata)
{
	return symbolizer_unwind_table(userdata, object, ret);
}

static int make_unwinder(struct script_dump *samples)
{
	const struct unwinder_settings settings = { get_table, samples->symbolizer };

	return unwinder_new(&samples->unwinder, &settings,
			    recording_info(samples->recording)->machine);
}

int script_dump_open(struct script_dump **ret, const struct script_dump_settings *settings,
		     struct fault *fault)
{
	_cleanup_(script_dump_freep) struct script_dump *samples = calloc(1, sizeof(*samples));
	int r;

	if (!samples)
		return fault_set(fault, -ENOMEM, "out of memory");
	samples->settings = settings;
	r = check_readable_twice(settings->path, fault);
	if (r >= 0)
		r = first_reading(samples, fault);
	if (r < 0)
		return r;
	if (processes_new(&samples->processes) < 0 ||
	    symbolizer_new(&samples->symbolizer, &settings->symbols) < 0 ||
	    make_unwinder(samples) < 0)
		return fault_set(fault, -ENOMEM, "out of memory");
	*ret = TAKE_PTR(samples);
	return 0;
}

struct script_dump *script_dump_free(struct script_dump *samples)
{
	if (!samples)
		return NULL;
	stack_done(&samples->stack);
	stitch_free(samples->stitch);
	unwinder_free(samples->unwinder);
	symbolizer_free(samples->symbolizer);
	processes_free(samples->processes);
	recording_free(samples->recording);
	free(samples);
	return NULL;
}

static void say_others(const struct script_dump *samples, FILE *f)
{
	_cleanup_free_ char *others = load_join_names(samples->recording, samples->source);

	if (others && others[0] != '\0')
		text_say(f, "samples of %s; also recorded, see --event: %s",
			 recording_source_name(samples->recording, samples->source), others);
}

void script_dump_say(const struct script_dump *samples, FILE *f)
{
	const struct recording_damage *damage = &samples->damage;

	if (damage->fault.text[0] != '\0')
		text_say(f, "%s: %s; %" PRIu64 " bytes from there on are lost",
			 samples->settings->path, damage->fault.text, damage->n_bytes_lost);
	say_others(samples, f);
}

/*
 * Its symbol. A return address before which there is no function is no caller's: the kernel returns
 * from a signal's handler to the start of the trampoline.
 */
static int find_symbol(struct script_dump *samples, struct frame *frame)
{
	const struct profile_object *object = &frame->object->what;
	int r = symbolizer_find(samples->symbolizer, object, frame->lookup, &frame->symbol);

	if (r != 0 || frame->lookup == frame->offset)
		return r;
	frame->lookup = frame->offset;
	return symbolizer_find(samples->symbolizer, object, frame->lookup, &frame->symbol);
}

static int locate(struct script_dump *samples, const struct process_context *process_context,
		  uint64_t address, bool is_return, struct frame *ret)
{
	const struct mapping *mapping;

	*ret = (struct frame){ .address = address };
	mapping = processes_locate(samples->processes, process_context, address - is_return);
	if (!mapping)
		return 0;
	ret->object = mapping->object;
	ret->offset = address + mapping->shift;
	ret->lookup = ret->offset - is_return;
	if (!mapping->object->function)
		return find_symbol(samples, ret);
	ret->symbol.name = mapping->object->function;
	ret->symbol.start = mapping->start + mapping->shift;
	return 0;
}

static void write_inlined(struct script_dump *samples, const struct frame *frame, FILE *f)
{
	struct source_frame frames[MAX_INLINED];
	int n;

	if (!frame->object)
		return;
	n = symbolizer_lines(samples->symbolizer, &frame->object->what, frame->lookup, frames,
			     MAX_INLINED);
	for (int i = 0; i + 1 < n; i++) {
		fprintf(f, "\t%16" PRIx64 " ", frame->address);
		text_write(f, frames[i].function ?: "[unknown]");
		fputs(" (inlined)\n", f);
	}
}

static void write_name(const struct frame *frame, FILE *f)
{
	if (!frame->symbol.name) {
		fputs("[unknown]", f);
		return;
	}
	text_write(f, frame->symbol.name);
	fprintf(f, "+0x%" PRIx64, frame->offset - frame->symbol.start);
}

static void write_frame(struct script_dump *samples, const struct frame *frame, FILE *f)
{
	if (samples->settings->inlined)
		write_inlined(samples, frame, f);
	fprintf(f, "\t%16" PRIx64 " ", frame->address);
	write_name(frame, f);
	fputs(" (", f);
	text_write(f, frame->object && frame->object->what.path[0] ? frame->object->what.path :
								     "[unknown]");
	fputs(")\n", f);
}

static int write_callers(struct script_dump *samples, const struct process_context *process_context,
			 FILE *f)
{
	const struct stack *stack = &samples->stack;
	struct frame frame;
	int r = 0;

	for (size_t i = 1; r >= 0 && i < stack->n; i++) {
		const struct stack_frame *at = &stack->frames[i];

		r = locate(samples, process_context, at->address, at->place != at->address, &frame);
		if (r >= 0)
			write_frame(samples, &frame, f);
	}
	return r;
}

static int write_named_branch(struct script_dump *samples,
			      const struct process_context *process_context,
			      const struct branch_record *row, FILE *f)
{
	struct frame from, to;
	int r = locate(samples, process_context, row->from, false, &from);

	if (r < 0)
		return r;
	fputc(' ', f);
	write_name(&from, f); /* borrowed until the next call of locate() */
	fputc('/', f);
	r = locate(samples, process_context, row->to, false, &to);
	if (r < 0)
		return r;
	write_name(&to, f);
	branch_text_write_flags(row, f);
	return 0;
}

/* A line of addresses and a line of names, newest first. */
static int write_branches(struct script_dump *samples,
			  const struct process_context *process_context,
			  const struct sample *sample, FILE *f)
{
	int r = 0;

	for (uint32_t i = 0; i < sample->n_rows; i++) {
		const struct branch_record *row = &sample->rows[i];

		fprintf(f, " 0x%" PRIx64 "/0x%" PRIx64, row->from, row->to);
		branch_text_write_flags(row, f);
	}
	fputc('\n', f);
	for (uint32_t i = 0; r >= 0 && i < sample->n_rows; i++)
		r = write_named_branch(samples, process_context, &sample->rows[i], f);
	fputc('\n', f);
	return r;
}

static bool process_wanted(const struct profile_filter *filter,
			   const struct process_context *process_context)
{
	struct profile_process process = {
		.pid = process_context->pid,
		.comm = process_context->comm,
		.unit = process_context->unit,
		.uid = process_context->uid,
	};

	return profile_process_matches(&process, filter);
}

static bool leaf_wanted(const struct profile_filter *filter, const struct frame *leaf)
{
	if (filter->object &&
	    (!leaf->object || !profile_object_is_in(&leaf->object->what, filter->object)))
		return false;
	return !filter->symbol ||
	       (leaf->symbol.name && profile_symbol_is_in(leaf->symbol.name, filter->symbol));
}

static int write_sample(struct script_dump *samples, const struct event *event, FILE *f)
{
	const struct profile_filter *filter = &samples->settings->filter;
	const struct sample *sample = &event->sample;
	const struct process_context *process_context =
		processes_find(samples->processes, event->pid);
	const struct stack *stack = &samples->stack;
	struct unwind_result unwound;
	struct frame leaf;
	int r;

	if (!process_context || stack_fill(&samples->stack, samples->stitch, event) < 0)
		return -ENOMEM;
	if (!process_wanted(filter, process_context))
		return 0;
	r = unwinder_add(samples->unwinder, samples->processes, process_context, sample,
			 &samples->stack, &unwound);
	if (r < 0)
		return r;
	r = locate(samples, process_context, stack->n > 0 ? stack->frames[0].address : sample->ip,
		   false, &leaf);
	if (r < 0 || !leaf_wanted(filter, &leaf))
		return r;

	text_write(f, processes_thread_comm(samples->processes, event->pid, event->tid));
	fprintf(f, " %" PRId32 "/%" PRId32 " %" PRIu64 ".%09" PRIu64 ": ", event->pid, event->tid,
		event->time_ns / 1000000000, event->time_ns % 1000000000);
	text_write(f, recording_source_name(samples->recording, samples->source));
	fputs(":\n", f);
	write_frame(samples, &leaf, f);
	r = write_callers(samples, process_context, f);
	if (r >= 0 && samples->settings->branches && sample->n_rows > 0)
		r = write_branches(samples, process_context, sample, f);
	fputc('\n', f);
	return r;
}

static int write_event(struct script_dump *samples, const struct event *event, FILE *f)
{
	if (event->kind != EVENT_SAMPLE) {
		if (samples->stitch)
			stitch_apply(samples->stitch, event);
		return processes_apply(samples->processes, event);
	}
	return event->source == samples->source ? write_sample(samples, event, f) : 0;
}

/* From the beginning of the recording. */
static int start_stitching(struct script_dump *samples, struct fault *fault)
{
	const struct stitch_settings settings = {
		.depth = recording_info(samples->recording)->depth,
		.is_wiped = recording_is_wiped(samples->recording),
		.find_function = function_finder_find,
		.userdata = &samples->functions,
	};

	samples->stitch = stitch_free(samples->stitch);
	samples->functions = (struct function_finder){
		.processes = samples->processes,
		.find = function_ranges_find,
		.userdata = samples->symbolizer,
	};
	if (samples->settings->no_stitch || stitch_new(&samples->stitch, &settings) >= 0)
		return 0;
	return fault_set(fault, -ENOMEM, "out of memory");
}

int script_dump_write(struct script_dump *samples, FILE *f, struct fault *fault)
{
	struct event event;
	int r;

	r = open_recording(samples, fault);
	if (r >= 0)
		r = start_stitching(samples, fault);
	if (r < 0)
		return r;
	while ((r = recording_next(samples->recording, &event, fault)) > 0) {
		r = write_event(samples, &event, f);
		if (r < 0)
			return fault_set(fault, r, "%s: %s", samples->settings->path, strerror(-r));
		if (ferror(f))
			return 0;
	}
	return r;
}

void script_dump_say_problems(const struct script_dump *samples, FILE *f)
{
	problems_say(samples->symbolizer, NULL, f);
}
