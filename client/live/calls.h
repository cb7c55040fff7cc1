/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The callers and callees of a function: two trees that begin with it, one above the other. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "client/live/subject.h"
#include "client/source/profile-source.h"
#include "client/stack/tree.h"
#include "client/term/output.h"
#include "client/view/place.h"
#include "common/util/macro.h"

struct live_calls {
	struct places places;
	uint64_t samples; /* 100 percent */
	struct view_tree *callers, *callees;
};

/* Of @subject, in what @source shows, which is borrowed. -ENOMEM. */
int live_calls_new(struct live_calls **ret, const struct profile_source *source,
		   const struct live_subject *subject);
struct live_calls *live_calls_free(struct live_calls *calls);
DEFINE_CLEANUP(struct live_calls *, live_calls_free);

/* 0 or -ENOMEM. */
int live_calls_write(const struct live_calls *calls, struct output *output);

/* The function of that line of the text. False if it has none. */
bool live_calls_lead(const struct live_calls *calls, size_t line, struct live_subject *ret);

/* Of a line, as live_line_identity() and live_line_find() have it. */
uint64_t live_calls_identity(const struct live_calls *calls, size_t line);
size_t live_calls_find_identity(const struct live_calls *calls, uint64_t identity);
