/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The result of `branchctl diff` before it is rendered: two sources, and the rows of one view of
 * both.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/diff/block.h"
#include "client/diff/comparison.h"
#include "client/diff/share.h"
#include "client/diff/stream.h"
#include "client/view/place.h"

/*
 * Noise is measured by the variation among that many parts of a range of windows. More parts would
 * be shorter and less independent of each other (batch means; Schmeiser, Operations Research 30,
 * 1982, recommends 10 to 30).
 */
#define DIFF_PARTS 12

/* Which view of a comparison, and what of it. */
struct diff_settings {
	enum view_by by;
	bool inlined;         /* with inlined calls and source lines */
	bool all;             /* rows however small or within noise */
	double percent_limit; /* rows with less in both are left out; negative: the view's own */
	size_t n_rows;        /* 0: all */
	uint32_t depth;       /* of streams: see stream-tree.h */
	bool rows_given;      /* @n_rows counts even with @all */
	bool brief;           /* a part of a page of several views */
};

struct diff_side {
	const struct profile_source *source;
	struct places places;
	double seconds;    /* 0 where unknown */
	double per_second; /* of all samples: events, or CPU seconds; negative where unknown */
};

struct diff {
	enum view_by by;
	struct diff_side sides[N_SIDES];
	bool same_event;                    /* apart from modifiers; else per_second is unknown */
	bool is_clock;                      /* per_second is CPU time */
	size_t n_compared, n_rows, n_shown; /* rows: all, without those below the limit, shown */
	size_t n_each; /* streams shown of each section, at most; if @brief, of all */
	bool brief;    /* show the largest in few lines */
	double limit;  /* percent: rows with less on both sides are left out */

	/* one of them, by the view */
	struct diff_shares *shares;
	struct diff_blocks *blocks;
	struct diff_streams *streams;
};

/* The view of @with (borrowed) that @settings ask for. 0, or -errno and @fault. */
int diff_new(struct diff **ret, const struct comparison *with, const struct diff_settings *settings,
	     struct fault *fault);
struct diff *diff_free(struct diff *diff);
DEFINE_CLEANUP(struct diff *, diff_free);
