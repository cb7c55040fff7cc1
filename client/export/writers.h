/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The writers of the formats, one per file. Each writes @input to @f and returns 0 or -ENOMEM; that
 * @f could not be written is seen by ferror(). Those of branch records may also fail with
 * @input->fault.
 */
#pragma once

#include <stdio.h>

#include "client/source/profile-source.h"
#include "client/view/place.h"
#include "common/util/fault.h"

struct export_input {
	const struct profile_source *source;
	struct places places;               /* of source->shown */
	const struct profile_source *older; /* NULL: no difference */
	struct places older_places;
	const char *object; /* the file that is asked for; NULL: any */
	struct fault *fault;
};

int stack_lines_write(const struct export_input *input, FILE *f);
int otlp_write(const struct export_input *input, FILE *f);
int pprof_write(const struct export_input *input, FILE *f);
int speedscope_write(const struct export_input *input, FILE *f);
int firefox_write(const struct export_input *input, FILE *f);
int perf_script_write(const struct export_input *input, FILE *f);
int callgrind_write(const struct export_input *input, FILE *f);
int html_write(const struct export_input *input, FILE *f);
int svg_write(const struct export_input *input, FILE *f);
int bolt_write(const struct export_input *input, FILE *f);
int llvm_profgen_write(const struct export_input *input, FILE *f);
int autofdo_write(const struct export_input *input, FILE *f);
