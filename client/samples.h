/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `branchctl dump --samples`: each sample of a recording with its stack, as text that the tools
 * around perf script read.
 *
 * The recording is read twice: once to its end, for of a damaged one nothing may be printed as if it were
 * a result; then sample by sample.
 */
#pragma once

#include <stdio.h>

#include "client/options.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct samples;

/* The first reading. -errno and @fault. Borrows @options. */
int samples_open(struct samples **ret, const struct options *options, struct fault *fault);
struct samples *samples_free(struct samples *samples);
DEFINE_CLEANUP(struct samples *, samples_free);

/* What the user should know beside the result, one line each. */
void samples_say(const struct samples *samples, FILE *f);

/* What is known only after the second reading: whose symbols were not found. */
void samples_say_problems(const struct samples *samples, FILE *f);

/* The second reading. 0, also where @f takes no more; -errno and @fault. */
int samples_write(struct samples *samples, FILE *f, struct fault *fault);
