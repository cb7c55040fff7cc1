/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Closing a window: its processes. A machine that builds starts and ends hundreds of compilers in
 * each window. Apart they would be most of its rows, with a few samples each: they are counted
 * together, as where windows are merged with age (see struct profile_process).
 */
#pragma once

#include "common/builder/flush-locate.h"

/*
 * Adds the processes of all process contexts to the profile, and sets builder.processes. Where that
 * is asked, the processes of one name, executable, unit and user that have both started and exited
 * since the last flush are one, if they are at least BUILDER_UNITE_MIN or earlier ones of this
 * window were: it has the number and the start of one of them, by which their files are found. 0 or
 * -ENOMEM.
 */
int flush_processes(struct flush *f);
