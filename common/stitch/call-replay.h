/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Replays the new records of a snapshot, oldest first, on the remembered calls below them: which of
 * them are calls that the task is in.
 *
 * Each call, and at last the sampled address, must be in the function that the call below entered.
 * Where it is not, there are two cases. That function, or the stub of a PLT, has jumped to this
 * one: a tail call. Or it was left by a jump out (longjmp, an exception) to a function further
 * below, and the calls between are dead. It was left if one of the calls between entered a function
 * that leaves others. Functions that never called others were not left, nor those that were never
 * seen left. Where neither can be shown, the stack ends.
 */
#pragma once

#include "common/stitch/call-walk-state.h"

/* Fills accepted, and removes levels that were left. */
void call_replay_run(struct call_walk *w);
