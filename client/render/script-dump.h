/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `branchctl dump --samples`: each sample of a recording with its stack, as text that the tools
 * around perf script read.
 *
 * The recording is read twice: once to its end, for of a damaged one nothing may be printed as if
 * it were a result; then sample by sample.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "common/profile/filter.h"
#include "common/symbol/symbolizer.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct script_dump;

/* Its strings are the caller's. */
struct script_dump_settings {
	const char *path;  /* of the recording */
	const char *event; /* NULL: the first */
	struct profile_filter filter;
	struct symbolizer_settings symbols;
	bool force; /* use what is sound of a damaged recording */
	bool no_stitch;
	bool inlined;  /* with inlined calls */
	bool branches; /* with the branch records */
};

/* The first reading. -errno and @fault. Borrows @settings. */
int script_dump_open(struct script_dump **ret, const struct script_dump_settings *settings,
		     struct fault *fault);
struct script_dump *script_dump_free(struct script_dump *samples);
DEFINE_CLEANUP(struct script_dump *, script_dump_free);

/* What the user should know beside the result, one line each. */
void script_dump_say(const struct script_dump *samples, FILE *f);

/* What is known only after the second reading: whose symbols were not found. */
void script_dump_say_problems(const struct script_dump *samples, FILE *f);

/* The second reading. 0, also where @f takes no more; -errno and @fault. */
int script_dump_write(struct script_dump *samples, FILE *f, struct fault *fault);
