/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * One line per row, numbers first and in columns of fixed width, so that sort and grep can work on
 * it. Rows are written one by one, because the tables may be long.
 */
#include "client/render/dump-text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/term/text.h"
#include "client/view/counters.h"
#include "client/view/place.h"
#include "common/profile/other.h"
#include "common/util/cleanup.h"

static const char *const kinds[N_OBJECT_KINDS] = {
	[OBJECT_FILE] = "file", [OBJECT_KERNEL] = "kernel", [OBJECT_MODULE] = "module",
	[OBJECT_VDSO] = "vdso", [OBJECT_MEMORY] = "memory",
};

static void write_field(FILE *f, const char *name, const char *value)
{
	fprintf(f, "  %-12s ", name);
	text_write(f, value ?: "-");
	fputc('\n', f);
}

static void write_info(FILE *f, const struct profile_source *source)
{
	const struct profile_info *info = &source->all->info;

	fputs(source->is_recording ? "recording\n" : "windows\n", f);
	write_field(f, source->is_recording ? "path" : "which", source->name);
	write_field(f, "mode", info->mode);
	write_field(f, "event", info->event);
	write_field(f, "hostname", info->hostname);
	write_field(f, "os release", info->os_release);
	write_field(f, "cpu", info->cpu);
	fprintf(f, "  %-12s %" PRIu32 "\n", "cpus", info->n_cpus);
	fprintf(f, "  %-12s %" PRIu32 "\n", "depth", info->depth);
	fprintf(f, "  %-12s %" PRIu64 ".%09" PRIu64 "\n", "start", info->start_ns / 1000000000,
		info->start_ns % 1000000000);
	fprintf(f, "  %-12s %" PRIu64 ".%09" PRIu64 "\n", "end", info->end_ns / 1000000000,
		info->end_ns % 1000000000);
}

static void write_counters(FILE *f, const struct profile *profile)
{
	fputs("\ncounters\n", f);
	for (size_t i = 0; i < N_COUNTERS; i++) {
		struct counter counter = counters_get(&profile->counters, i);

		fprintf(f, "  %16" PRIu64 "  %-20s %s\n", counter.value, counter.name,
			counter.what);
	}
}

static void write_processes(FILE *f, const struct profile *profile)
{
	fprintf(f, "\nprocesses: %zu\n", profile->n_processes);
	fprintf(f, "  %12s %8s %10s  %-16s %s\n", "samples", "pid", "uid", "comm",
		"executable, unit, restricted if its user may not look into it");
	for (size_t i = 0; i < profile->n_processes; i++) {
		const struct profile_process *process = &profile->processes[i];

		fprintf(f, "  %12" PRIu64 " ", process->samples);
		if (process->n_gone > 0)
			fprintf(f, "%8s ", "gone");
		else
			fprintf(f, "%8" PRId32 " ", process->pid);
		if (process->uid == UINT32_MAX)
			fprintf(f, "%10s  ", "-");
		else
			fprintf(f, "%10" PRIu32 "  ", process->uid);
		text_write_padded(f, process->comm, 16);
		fputc(' ', f);
		text_write(f, process->executable ?: "-");
		fputs(", ", f);
		text_write(f, process->unit ?: "-");
		if (process->n_gone > 0)
			fprintf(f, ", %" PRIu64 " processes", process->n_gone);
		fputs(process->restricted ? ", restricted\n" : "\n", f);
	}
}

/* The reason why an object has no symbols, by path, as the symbolizer reports it. */
struct reason {
	const char *path;
	const char *why;
};

static void match_reason(const char *path, const char *why, void *userdata)
{
	struct reason *reason = userdata;

	if (strcmp(path, reason->path) == 0)
		reason->why = why;
}

static void write_objects(FILE *f, const struct profile_source *source)
{
	const struct profile *profile = source->shown;

	fprintf(f, "\nobjects: %zu\n", profile->n_objects);
	fprintf(f, "  %-6s %18s %-40s %s\n", "kind", "base", "build-id", "path");
	for (size_t i = 0; i < profile->n_objects; i++) {
		const struct profile_object *object = &profile->objects[i];
		struct reason reason = { .path = object->path };

		fprintf(f, "  %-6s 0x%016" PRIx64 " ", kinds[object->kind], object->base);
		for (size_t k = 0; k < object->n_build_id; k++)
			fprintf(f, "%02x", object->build_id[k]);
		fprintf(f, "%*s ", 40 - 2 * object->n_build_id, object->n_build_id ? "" : "-");
		text_write(f, object->path[0] ? object->path : "[unknown]");
		fputs(object->untrusted ? "  (untrusted)" : "", f);
		symbolizer_for_each_problem(source->symbolizer, match_reason, &reason);
		if (reason.why) {
			fputs("  (no symbols: ", f);
			text_write(f, reason.why);
			fputc(')', f);
		}
		fputc('\n', f);
	}
}

static void write_functions(FILE *f, const struct profile *profile)
{
	fprintf(f, "\nfunctions: %zu\n", profile->n_functions);
	fprintf(f, "  %18s %10s  %s\n", "start", "size", "name, object");
	for (size_t i = 0; i < profile->n_functions; i++) {
		const struct profile_function *function = &profile->functions[i];

		fprintf(f, "  0x%016" PRIx64 " %10" PRIu64 "  ", function->start, function->size);
		text_write(f, function->name);
		fputs(" (", f);
		text_write(f, place_object_name(&profile->objects[function->object]));
		fputs(")\n", f);
	}
}

static int write_place(FILE *f, const struct places *places, struct location at)
{
	struct place place = place_find(places, at);
	_cleanup_free_ char *text = place_format(&place);

	if (!text)
		return -ENOMEM;
	text_write(f, text);
	if (place.function) {
		fputs(" (", f);
		text_write(f, place_object_name(place.object));
		fputc(')', f);
	}
	return 0;
}

/* A row that stands for others has no place. */
static void write_others(FILE *f, const struct profile *profile, uint32_t object)
{
	fputs("others", f);
	if (object == PROFILE_NONE)
		return;
	fputs(" (", f);
	text_write(f, place_object_name(&profile->objects[object]));
	fputc(')', f);
}

static int write_ends(FILE *f, const struct places *places, struct location from,
		      struct location to)
{
	int r = write_place(f, places, from);

	fputs(" -> ", f);
	return r < 0 ? r : write_place(f, places, to);
}

static int32_t pid_of(const struct profile *profile, uint32_t process)
{
	return process == PROFILE_NONE ? -1 : profile->processes[process].pid;
}

static int write_branches(FILE *f, const struct places *places)
{
	const struct profile *profile = places->profile;
	int r = 0;

	fprintf(f, "\nbranches: %zu\n", profile->n_branches);
	fprintf(f, "  %12s %12s %12s %8s %12s %12s %9s %8s  %s\n", "taken", "mispredicted",
		"predicted", "aborted", "cycles", "with cycles", "kind", "pid", "from -> to");
	for (size_t i = 0; r >= 0 && i < profile->n_branches; i++) {
		const struct profile_branch *branch = &profile->branches[i];

		fprintf(f,
			"  %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %8" PRIu64 " %12" PRIu64
			" %12" PRIu64 " %9s %8" PRId32 "  ",
			branch->taken, branch->mispredicted, branch->predicted, branch->aborted,
			branch->cycles, branch->cycles_rows, branch_kind_name(branch->kind) ?: "-",
			pid_of(profile, branch->process));
		if (other_is_branch(branch))
			write_others(f, profile, branch->from.object);
		else
			r = write_ends(f, places, branch->from, branch->to);
		fputc('\n', f);
	}
	return r;
}

static int write_span(FILE *f, const struct places *places, const struct profile_block *block)
{
	int r = write_place(f, places, (struct location){ block->object, block->start });

	fputs(" .. ", f);
	return r < 0 ? r : write_place(f, places, (struct location){ block->object, block->end });
}

static int write_blocks(FILE *f, const struct places *places)
{
	const struct profile *profile = places->profile;
	int r = 0;

	fprintf(f, "\nblocks: %zu\n", profile->n_blocks);
	fprintf(f, "  %12s %12s %12s %8s  %s\n", "runs", "cycles", "with cycles", "pid",
		"start .. end (both belong to it)");
	for (size_t i = 0; r >= 0 && i < profile->n_blocks; i++) {
		const struct profile_block *block = &profile->blocks[i];

		fprintf(f, "  %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %8" PRId32 "  ",
			block->runs, block->cycles, block->cycles_rows,
			pid_of(profile, block->process));
		if (other_is_block(block))
			write_others(f, profile, block->object);
		else
			r = write_span(f, places, block);
		fputc('\n', f);
	}
	return r;
}

static void write_node(FILE *f, size_t number, uint32_t parent)
{
	fprintf(f, "  %8zu ", number);
	if (parent == PROFILE_NONE)
		fprintf(f, "%8s ", "-");
	else
		fprintf(f, "%8" PRIu32 " ", parent);
}

static int write_streams(FILE *f, const struct places *places)
{
	const struct profile *profile = places->profile;
	int r = 0;

	fprintf(f, "\nstreams: %zu branches\n", profile->n_streams);
	fprintf(f, "  %8s %8s %12s %8s %12s %8s  %s\n", "branch", "newer", "hits", "pruned",
		"cycles", "pid", "from -> to");
	for (size_t i = 0; r >= 0 && i < profile->n_streams; i++) {
		const struct profile_stream *stream = &profile->streams[i];

		write_node(f, i, stream->parent);
		fprintf(f, "%12" PRIu64 " %8" PRIu64 " %12" PRIu64 " %8" PRId32 "  ", stream->hits,
			stream->pruned, stream->cycles, pid_of(profile, stream->process));
		if (other_is_stream(stream))
			write_others(f, profile, stream->from.object);
		else
			r = write_ends(f, places, stream->from, stream->to);
		fputc('\n', f);
	}
	return r;
}

static int write_stacks(FILE *f, const struct places *places)
{
	const struct profile *profile = places->profile;
	int r = 0;

	fprintf(f, "\nstacks: %zu frames\n", profile->n_stacks);
	fprintf(f, "  %8s %8s %12s %8s %8s %16s %8s  %s\n", "frame", "caller", "samples", "pruned",
		"stitched", "weight", "pid", "place");
	for (size_t i = 0; r >= 0 && i < profile->n_stacks; i++) {
		const struct profile_stack *stack = &profile->stacks[i];

		write_node(f, i, stack->parent);
		fprintf(f, "%12" PRIu64 " %8" PRIu64 " %8" PRIu64 " %16" PRIu64 " %8" PRId32 "  ",
			stack->samples, stack->pruned, stack->stitched, stack->weight,
			pid_of(profile, stack->process));
		r = write_place(f, places, profile_place_frame(profile, stack->frame));
		fputc('\n', f);
	}
	return r;
}

int dump_write_text(const struct profile_source *source, FILE *f)
{
	struct places places = { .profile = source->shown, .symbolizer = source->symbolizer };
	int r;

	write_info(f, source);
	write_counters(f, source->shown);
	write_processes(f, source->shown);
	write_objects(f, source);
	write_functions(f, source->shown);
	r = write_branches(f, &places);
	if (r >= 0)
		r = write_blocks(f, &places);
	if (r >= 0)
		r = write_streams(f, &places);
	return r < 0 ? r : write_stacks(f, &places);
}
