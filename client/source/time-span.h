/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lengths of time as systemd.time(7) has them: "5min", "1h 30min", "1.5 s". */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Reads a length of time and moves *@text past it. False if there is none, or it is too long. */
bool time_span_take(const char **text, uint64_t *ret_us);
