/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The source: a window reference of the command line made a profile with names, and the part of
 * it that the filters leave.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "client/rpc/functions.h"
#include "client/rpc/windows.h"
#include "common/profile/filter.h"
#include "common/profile/profile.h"
#include "common/record/recording.h"
#include "common/symbol/symbolizer.h"
#include "common/util/fault.h"

/* What to open, and how. Its strings are the caller's, and outlive the source. */
struct profile_source_settings {
	const char *window; /* a window reference; NULL: the last five minutes */
	uint64_t now_us;    /* what its times count from */
	struct profile_filter filter;
	struct symbolizer_settings symbols;

	/* of the daemon's windows */
	const char *socket;
	size_t n_parts;   /* most parts of their time to load as well; 0: none */
	bool by_function; /* profile_source.functions are enough */

	/* of a recording */
	const char *event; /* NULL: the first */
	bool force;        /* use what is sound of a damaged one */
	bool no_stitch;
};

/* A part of the time of a source. */
struct profile_source_part {
	struct profile
		*shown;   /* sealed, filtered as the whole; NULL where there are functions alone */
	uint64_t samples; /* of all of it: what shares in this part are shares of */
};

struct profile_source {
	char *name; /* a recording's path, or which windows these are */
	bool is_recording;
	struct windows windows;      /* of the daemon's that are in it */
	struct profile *profile;     /* as it was read */
	struct profile *processes;   /* of the processes asked for, or NULL: all */
	struct profile *part;        /* of these the objects and symbols asked for, or NULL: all */
	const struct profile *all;   /* either of the first two: what shares are shares of */
	const struct profile *shown; /* either of all three; sealed */
	bool filtered;               /* something was asked for */
	struct symbolizer *symbolizer;
	struct recording_damage damage;
	char *others; /* names of events not counted, or NULL */

	/* The same in parts of about one length, one after the other; none but where they were
	 * asked for. */
	struct profile_source_part *parts;
	size_t n_parts;

	/*
	 * NULL, or all there is: then @shown has neither true stacks nor any other rows, and the
	 * parts are the same here as above.
	 */
	struct functions *functions;
};

/*
 * Loads, symbolizes, finalizes and filters what @settings name: a recording, or windows of the
 * daemon. -errno and @fault.
 */
int profile_source_open(struct profile_source **ret, const struct profile_source_settings *settings,
			struct fault *fault);

/* One without a profile yet, for windows of the daemon. -ENOMEM. */
int profile_source_new(struct profile_source **ret, const struct symbolizer_settings *symbols);
struct profile_source *profile_source_free(struct profile_source *source);
DEFINE_CLEANUP(struct profile_source *, profile_source_free);

/* Another profile, sealed, and the windows it is of; both are taken over, in any case. -ENOMEM. */
int profile_source_replace(struct profile_source *source, struct profile *profile,
			   struct windows *windows, const struct profile_filter *filter);

/* The same profile, filtered otherwise. -ENOMEM, upon which nothing is shown. */
int profile_source_filter(struct profile_source *source, const struct profile_filter *filter);

/*
 * What stands for the windows of the daemon in a heading: "windows 12 to 41 and the open one,
 * 10:00:00 to 10:05:03". Heap, or NULL.
 */
char *profile_source_format_windows(const struct windows *windows, uint64_t now_us);

/* What the user should know beside the result, one line each: damage, other events. */
void profile_source_say(const struct profile_source *source, FILE *f);
