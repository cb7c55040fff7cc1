/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The stack that a walk has found. */
#pragma once

#include "common/stitch/call-walk-state.h"

/* Fills the result, before the snapshot is remembered: the rows, and what they stand on wherever
 * they are placed. */
void call_walk_report_ambiguous(struct call_walk *w);

/* The same after it: what is remembered by now, down to the first gap. */
void call_walk_report_levels(struct call_walk *w);
