/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The views whose rows are shares of the samples: by function, line, object, process, unit.
 *
 * Where a frame has no function or line, its row is that of its object with no symbol or file. With
 * @symbolizer a function's inlined calls are rows of their own (by the name they share with the
 * function's other copies in that object), the innermost one taking the sample; without, a line
 * is the innermost line of a frame, else each line of the inlined calls that led there.
 */
#pragma once

#include "client/view/shares.h"
#include "client/view/view.h"
#include "common/profile/profile.h"
#include "common/symbol/symbolizer.h"

/* Any of those below, by what @by names. @symbolizer may be NULL but for lines and inlined calls.
 */
int view_shares(struct shares **ret, enum view_by by, const struct profile *profile,
		struct symbolizer *symbolizer, bool inlined);

/* What the place @at belongs to. */
struct share_key share_key_of_function(const struct profile *profile, struct location at);

/* *@ret is the rows of the sealed @profile, hottest first. 0 or -ENOMEM. */
int view_functions(struct shares **ret, const struct profile *profile);
int view_functions_inlined(struct shares **ret, const struct profile *profile,
			   struct symbolizer *symbolizer);
int view_lines(struct shares **ret, const struct profile *profile, struct symbolizer *symbolizer,
	       bool inlined);
int view_objects(struct shares **ret, const struct profile *profile);
int view_processes(struct shares **ret, const struct profile *profile);
int view_units(struct shares **ret, const struct profile *profile);
