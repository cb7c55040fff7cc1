/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The source: from a window reference to a symbolized profile, and its part that filters leave. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "client/rpc/functions.h"
#include "client/rpc/windows.h"
#include "client/source/window-ref.h"
#include "common/profile/filter.h"
#include "common/profile/profile.h"
#include "common/record/recording.h"
#include "common/symbol/symbolizer.h"
#include "common/util/fault.h"

/* What to open, and how. The strings are borrowed until the source is freed. */
struct profile_source_settings {
	const char *window;          /* a window reference; NULL: the last five minutes */
	uint64_t now_us;             /* CLOCK_REALTIME, for relative times */
	uint64_t since_us, until_us; /* instead of @window; 0: not given */
	struct profile_filter filter;
	struct symbolizer_settings symbols;
	unsigned int tables; /* that suffice, see tables.h; 0: all are needed */

	/* of the daemon's windows */
	const char *socket;
	struct connection *connection; /* borrowed, instead of a new one to @socket; or NULL */
	size_t n_parts;                /* also load them in up to this many parts; 0: no parts */
	bool counts;                   /* profile_source.functions suffice: */
	enum functions_by by;
	size_t limit;     /* in struct daemon_api_request */
	int timeout_ms;   /* see connection_set_timeout(); 0: the default */
	size_t max_reply; /* see connection_set_max_reply(); 0: the default */
	bool names_there; /* profile_source_say() names what there is where nothing matches */

	/* of a recording */
	const char *event; /* NULL: the first */
	bool no_others;    /* profile_source_say() does not name the other events */
	bool force;        /* use a damaged one up to the damage */
	bool no_stitch;
	bool sum_processes; /* branches and blocks of all processes together suffice */
};

/* A part of the time of a source. */
struct profile_source_part {
	/* finalized and filtered like the whole; NULL if there are only functions */
	struct profile *shown;
	uint64_t samples; /* in the whole part: 100 percent */
};

/* A window that was named, and the one that it was merged into as it aged; 0: none. */
struct profile_source_merged {
	uint64_t id;
	int64_t into;
};

/* One of many hosts that were asked; see many-hosts.h. */
struct profile_source_host {
	char *name; /* as it was named */
	bool answered;
	struct fault fault; /* of one that did not */
	uint64_t took_us;
	struct windows windows;
};

struct profile_source {
	char *name; /* the path of a recording, or a description of the windows */
	bool is_recording;
	struct windows windows;                 /* the daemon's windows in it */
	struct profile_source_merged merged[2]; /* at the ends of what was named */
	uint64_t removed_us;                    /* between its windows, of windows since removed, */
	size_t n_removed;                       /* in that many gaps */
	struct profile *profile;      /* of windows by the filters of processes, else unfiltered */
	struct profile *processes;    /* by the filters of processes; NULL: all */
	struct profile *part;         /* of it, by object and symbol; NULL: all */
	const struct profile *all;    /* one of the first two: 100 percent */
	const struct profile *shown;  /* one of the three; finalized */
	bool filtered;                /* there is a filter, */
	bool by_process;              /* and one of processes */
	struct profile_filter filter; /* its strings are borrowed */
	struct functions *there;      /* where it leaves nothing: all processes; or NULL */
	struct symbolizer *symbolizer;
	struct recording_damage damage;
	char *others; /* names of events that are not counted, to say, or NULL */

	/* The same in consecutive parts of about equal length: see settings.n_parts. */
	struct profile_source_part *parts;
	size_t n_parts;

	/* Of many hosts all of them; then @windows is empty. */
	struct profile_source_host *hosts;
	size_t n_hosts;

	/* NULL, or the only counts: then @shown has objects, functions and counters only. */
	struct functions *functions;
};

/* The window reference of @settings. -EINVAL and @fault. */
int profile_source_parse_window(const struct profile_source_settings *settings,
				struct window_ref *ret, struct fault *fault);

/*
 * Loads, symbolizes, finalizes and filters what @settings name: a recording, or windows of the
 * daemon. -errno and @fault.
 */
int profile_source_open(struct profile_source **ret, const struct profile_source_settings *settings,
			struct fault *fault);

/* A source without a profile, for windows of the daemon. -ENOMEM. */
int profile_source_new(struct profile_source **ret, const struct symbolizer_settings *symbols);
struct profile_source *profile_source_free(struct profile_source *source);
DEFINE_CLEANUP(struct profile_source *, profile_source_free);

/* Takes over another finalized @profile and its @windows, even if it fails. -ENOMEM. */
int profile_source_replace(struct profile_source *source, struct profile *profile,
			   struct windows *windows, const struct profile_filter *filter);

/* Filters the profile anew. After -ENOMEM nothing is shown. */
int profile_source_filter(struct profile_source *source, const struct profile_filter *filter);

/* The samples of all processes, whatever the filters. */
uint64_t profile_source_machine_samples(const struct profile_source *source);

/* The number of hosts that answered. */
size_t profile_source_n_answered(const struct profile_source *source);

/* Whether the filters leave something. */
bool profile_source_has_match(const struct profile_source *source);

/*
 * Notes to the user, one line each: damage, other events, windows that were merged, filters without
 * a match.
 */
void profile_source_say(const struct profile_source *source, FILE *f);
