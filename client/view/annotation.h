/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A piece of code, instruction by instruction, with what was counted of each: what `branchctl
 * annotate` shows, before it is written.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/source/profile-source.h"
#include "client/view/code-span.h"
#include "client/view/place.h"
#include "common/symbol/disassembler.h"

enum code_origin {
	CODE_NONE,   /* nobody has it: lines are ranges, and places that were sampled outside of any
		      */
	CODE_FILE,   /* the object's own file */
	CODE_DAEMON, /* what the daemon has kept of it */
};

/* An instruction; without code, a range or a place. */
struct annotation_line {
	uint64_t offset, size; /* in the object */
	const char *text;      /* NULL without code */
	enum branch_kind kind;
	bool has_target; /* direct, or else the one seen most often */
	struct location target;

	uint64_t samples;
	const struct profile_range *range; /* NULL: no run went through it */
	bool begins, ends;                 /* the range begins with it, ends in it */

	/* Of the runs that end in it and began in the span: */
	uint64_t timed_runs, instructions, cycles;
};

struct annotation {
	const struct profile_source *source;
	const struct code_span *span;
	struct places places;
	enum code_origin origin;
	bool cut; /* there is more of it than could be read */

	struct annotation_line *lines;
	size_t n_lines, cap_lines;
	struct strings *strings;

	uint64_t samples, all_samples; /* in the span, and in the source */
	uint64_t max_coverage;         /* of the hottest range */
	bool has_cycles;
	size_t n_ran; /* lines that a run went through */
};

/* Of code that the daemon has kept: @n bytes, copied to @ret. The number there are, 0 for none, or
 * -errno. */
typedef int (*annotation_code_source)(const struct profile_object *object, uint64_t start,
				      void *ret, size_t n, uint16_t *ret_machine, void *userdata);

/* @kept (or NULL) is asked where the file is not at hand. All are borrowed. 0 or -ENOMEM. */
int annotation_new(struct annotation **ret, const struct profile_source *source,
		   const struct code_span *span, annotation_code_source kept, void *userdata);
struct annotation *annotation_free(struct annotation *annotation);
DEFINE_CLEANUP(struct annotation *, annotation_free);

/* Instructions for each cycle, of the runs of @line or of all; 0 where it is not known. */
double annotation_line_ipc(const struct annotation_line *line);
double annotation_ipc(const struct annotation *annotation);
