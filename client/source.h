/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The source: a window reference of the command line made a profile with names, and the part of
 * it that the filters leave.
 */
#pragma once

#include <stdio.h>

#include "client/options.h"
#include "common/profile/profile.h"
#include "common/record/recording.h"
#include "common/symbol/symbolizer.h"
#include "common/util/fault.h"

struct source {
	const char *path;
	struct profile *all;         /* of the processes asked for: what shares are shares of */
	struct profile *part;        /* of these the objects and symbols asked for, or NULL: all */
	const struct profile *shown; /* either of the two; sealed */
	bool filtered;               /* something was asked for */
	struct symbolizer *symbolizer;
	struct recording_damage damage;
	char *others; /* names of events not counted, or NULL */
};

/*
 * 0 where @word is a recording's path. -ENOTSUP and @fault where it is a window of the daemon's or,
 * being NULL, stands for the latest one.
 */
int source_check_word(const char *word, struct fault *fault);

/* Loads, names, seals and filters what the options ask for. -errno and @fault. */
int source_open(struct source **ret, const struct options *options, struct fault *fault);
struct source *source_free(struct source *source);
DEFINE_CLEANUP(struct source *, source_free);

/* What the user should know beside the result, one line each: damage, other events, lost symbols. */
void source_say(const struct source *source, FILE *f);
