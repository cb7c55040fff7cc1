/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reports the stack that a walk has found. */
#pragma once

#include "common/stitch/call-walk-state.h"

/* Fills the result before the snapshot is remembered: the records, and the levels below them that
 * all alignments have in common. */
void call_walk_report_ambiguous(struct call_walk *w);

/* Fills the result after the snapshot was remembered: the levels down to the first gap. */
void call_walk_report_levels(struct call_walk *w);
