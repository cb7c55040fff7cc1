/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The longer parts of `branchctl status`. */
#pragma once

#include "client/render/status/line.h"

/* What is sampled, how much of it came, and how complete the stacks are. */
void status_write_samples(const struct status_text *s);

/* The helpers that failed, and what therefore has no names. */
void status_write_helpers(const struct status_text *s);
