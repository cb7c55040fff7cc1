/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text as `perf script -F comm,pid,tid,time,period,event,ip,sym,symoff,dso` writes it. A profile
 * has no single samples, so each stack is written once, with the weight of all its samples as the
 * period, at the start of the time. Addresses are those of ELF files.
 */
#include <inttypes.h>

#include "client/export/origin.h"
#include "client/export/writers.h"
#include "client/term/text.h"

static void write_header(const struct export_input *input, const struct profile_stack *stack,
			 FILE *f)
{
	const struct profile *shown = input->source->shown;
	const struct profile_process *process =
		stack->process == PROFILE_NONE ? NULL : &shown->processes[stack->process];
	int32_t pid = process && process->pid >= 0 ? process->pid : 0;
	uint64_t start_ns = origin_start_ns(input->source);

	text_write(f, process && *process->comm ? process->comm : "[unknown]");
	fprintf(f, " %" PRId32 "/%" PRId32 " %" PRIu64 ".%09" PRIu64 ": %10" PRIu64 " ", pid, pid,
		start_ns / 1000000000, start_ns % 1000000000, origin_weight(input->source, stack));
	text_write(f, origin_event(input->source));
	fputs(": \n", f);
}

static void write_frame(const struct export_input *input, struct location frame, FILE *f)
{
	struct location at = profile_place_frame(input->source->shown, frame);
	struct place place = place_find(&input->places, at);

	fprintf(f, "\t%16" PRIx64 " ", place.address);
	if (place.function) {
		text_write(f, place.function->name);
		fprintf(f, "+0x%" PRIx64, place.offset - place.function->start);
	} else
		fputs("[unknown]", f);
	fputs(" (", f);
	text_write(f, place.object && place.object->path[0] ? place.object->path : "[unknown]");
	fputs(")\n", f);
}

int perf_script_write(const struct export_input *input, FILE *f)
{
	const struct profile *shown = input->source->shown;

	for (size_t i = 0; i < shown->n_stacks; i++) {
		uint32_t at = (uint32_t)i;

		if (shown->stacks[i].samples == 0)
			continue;
		write_header(input, &shown->stacks[i], f);
		for (; at != PROFILE_NONE; at = shown->stacks[at].parent)
			write_frame(input, shown->stacks[at].frame, f);
		putc('\n', f);
	}
	return 0;
}
