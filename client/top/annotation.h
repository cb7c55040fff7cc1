/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The result of `branchctl annotate` before it is rendered: a piece of code with the counts of each
 * instruction.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/source/profile-source.h"
#include "client/view/code-span.h"
#include "client/view/place.h"
#include "common/parser/results.h"
#include "common/profile/branch-kind.h"
#include "common/util/fault.h"

enum code_origin {
	CODE_NONE,   /* none: lines are ranges, and sampled addresses outside of ranges */
	CODE_FILE,   /* the object's own file */
	CODE_DAEMON, /* the daemon's copy */
	CODE_KERNEL, /* the kernel's memory */
};

/* An instruction; without code, a range or a single address. */
struct annotation_line {
	uint64_t offset, size; /* in the object */
	const char *text;      /* NULL without code */
	enum branch_kind kind;
	bool has_target; /* the direct target, or else the most frequent one */
	struct location target;
	bool has_data;                   /* refers to data relative to the instruction: */
	uint64_t data_address;           /* in the ELF file */
	const struct parser_datum *data; /* NULL without the file */

	uint64_t samples;
	const struct profile_range *range; /* NULL: it never ran */
	bool begins, ends;                 /* the range begins with it, ends in it */

	/* of the runs that ended in it and began in the span */
	uint64_t timed_runs, instructions, cycles;
};

struct annotation {
	const struct profile_source *source;
	const struct code_span *span;
	struct places places;
	enum code_origin origin;
	struct fault why_no_code; /* of CODE_NONE; "": the binary was not found */
	bool truncated;           /* the end of the code is missing */

	struct annotation_line *lines;
	size_t n_lines, cap_lines;
	struct strings *strings;
	struct parser_data data;

	uint64_t samples, all_samples; /* in the span, and in the source */
	uint64_t max_coverage;         /* of the hottest range */
	bool has_cycles;
	size_t n_ran; /* lines that ran */
};

/* Copies up to @n bytes of the daemon's copy of the code to @ret. Returns their number, or -errno.
 */
typedef int (*annotation_code_source)(const struct profile_object *object, uint64_t start,
				      void *ret, size_t n, uint16_t *ret_machine, void *userdata);

/* @kept, which may be NULL, is called if the file is not found. Borrows all. 0 or -ENOMEM. */
int annotation_new(struct annotation **ret, const struct profile_source *source,
		   const struct code_span *span, annotation_code_source kept, void *userdata);
struct annotation *annotation_free(struct annotation *annotation);
DEFINE_CLEANUP(struct annotation *, annotation_free);

/* Looks up the source lines of all instructions at once, for who wants them. 0 or -ENOMEM. */
int annotation_load_lines(const struct annotation *annotation);

/* Instructions per cycle, of the runs of @line or of all runs; 0 where unknown. */
double annotation_line_ipc(const struct annotation_line *line);
double annotation_ipc(const struct annotation *annotation);
