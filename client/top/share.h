/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The views whose rows are shares of the samples: by function, line, object, process, unit, comm,
 * container, user.
 *
 * A frame without function or line counts for its object's row without symbol or file. With inlined
 * calls these are rows of their own, by name and object, and the innermost one takes the sample.
 * Without them a line's row is the innermost line of a frame; with them also each line of the calls
 * that were inlined there.
 */
#pragma once

#include <stdbool.h>

#include "client/top/shares.h"
#include "client/view/view.h"
#include "common/profile/container.h"
#include "common/profile/profile.h"
#include "common/symbol/symbolizer.h"

/* One of the views below, by @by. Only lines and inlined calls need @symbolizer. */
int view_shares(struct shares **ret, enum view_by by, const struct profile *profile,
		struct symbolizer *symbolizer, bool inlined);

/* *@ret is the rows of the finalized @profile, hottest first. 0 or -ENOMEM. */
int view_functions(struct shares **ret, const struct profile *profile);
int view_functions_inlined(struct shares **ret, const struct profile *profile,
			   struct symbolizer *symbolizer);
int view_lines(struct shares **ret, const struct profile *profile, struct symbolizer *symbolizer,
	       bool inlined);

/* By a function or an object, and by whose it is. */
#define VIEW_NO_OWNER VIEW_FUNCTION
struct share_views {
	enum view_by by;
	enum view_by owner; /* VIEW_NO_OWNER, or see view_is_owner() */
	bool predictions;   /* only rows with mispredicted branches, those with most first */
};

/* Whether that view's rows are processes, or groups of them. */
bool view_is_owner(enum view_by by);

/*
 * The part of a row's key that says whose it is: of process @number of the finalized @profile, or
 * PROFILE_NONE. The name may be in @buffer.
 */
void share_key_set_owner(struct share_key *key, enum view_by by, const struct profile *profile,
			 uint32_t number, char buffer[CONTAINER_TEXT_MAX]);

int view_owned_shares(struct shares **ret, struct share_views views, const struct profile *profile);
