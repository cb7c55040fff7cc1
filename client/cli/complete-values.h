/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the daemon knows, as candidates of a completion. Where there is no daemon there are none. */
#pragma once

#include <stdbool.h>

#include "client/cli/completion.h"
#include "client/view/view.h"

/* Those of the last closed window by @by: functions, objects, processes (their pids), names, units
 * or containers (their ids), the hottest first. */
void complete_values_of(struct completion *completion, enum view_by by, const char *socket);

/* Ids of windows, the newest first, and marks. */
void complete_windows(struct completion *completion, const char *socket);
void complete_marks(struct completion *completion, const char *socket);
