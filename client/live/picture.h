/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the daemon sent, as the screen needs it: rows, trees of calls, or text. It lasts until
 * something newer comes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/live/calls.h"
#include "client/live/fetch.h"
#include "client/live/state.h"
#include "client/source/profile-source.h"
#include "client/top/top.h"
#include "common/util/macro.h"

struct live_picture;

/* The settings but @by and @tree are for all rows. Borrows both. 0 or -errno. */
int live_picture_new(struct live_picture **ret, const struct symbolizer_settings *symbols,
		     const struct top_settings *settings);
struct live_picture *live_picture_free(struct live_picture *picture);
DEFINE_CLEANUP(struct live_picture *, live_picture_free);

/* Takes over what @result has, the answer to @request. Of a paused view only what it lacks. */
int live_picture_take(struct live_picture *picture, const struct live_request *request,
		      struct live_result *result, bool paused);

/*
 * Makes what the screen of @state shows, and moves its cursor to where what it follows is now.
 * False in *@ret_served: that has to come from the daemon.
 */
int live_picture_make(struct live_picture *picture, struct live_state *state, bool *ret_served);

/* The cursor follows what is at it now. */
void live_picture_hold(const struct live_picture *picture, struct live_state *state);

/* Borrowed until the next call; NULL: there is none. The text is of screens that have no rows. */
struct top *live_picture_top(struct live_picture *picture);
const struct profile_source *live_picture_source(const struct live_picture *picture);
const char *live_picture_text(struct live_picture *picture, const struct live_state *state,
			      size_t width, bool colors);

/* The line of the hottest instruction, where the text has some that were sampled; else -ENOENT. */
int live_picture_hottest(const struct live_picture *picture, const struct live_state *state,
			 size_t *ret);

/* Puts on top what the line at the cursor leads to; or says that it leads nowhere. */
void live_picture_open(const struct live_picture *picture, struct live_state *state);
