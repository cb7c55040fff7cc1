/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `branchctl dump --samples`: each sample of a recording with its stack, as text that the tools
 * around perf script read.
 *
 * The recording is read twice: once to its end, for of a damaged one nothing may be printed as if
 * it were a result; then sample by sample.
 */
#pragma once

#include <stdio.h>

#include "client/cli/options.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct script_dump;

/* The first reading. -errno and @fault. Borrows @options. */
int script_dump_open(struct script_dump **ret, const struct options *options, struct fault *fault);
struct script_dump *script_dump_free(struct script_dump *samples);
DEFINE_CLEANUP(struct script_dump *, script_dump_free);

/* What the user should know beside the result, one line each. */
void script_dump_say(const struct script_dump *samples, FILE *f);

/* What is known only after the second reading: whose symbols were not found. */
void script_dump_say_problems(const struct script_dump *samples, FILE *f);

/* The second reading. 0, also where @f takes no more; -errno and @fault. */
int script_dump_write(struct script_dump *samples, FILE *f, struct fault *fault);
