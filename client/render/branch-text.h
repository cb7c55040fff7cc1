/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The flags of a branch record, as perf script prints them. */
#pragma once

#include <stdio.h>

#include "common/record/event.h"

/* "/P/-/-/8/CALL ": predicted, in a transaction, aborted, cycles, kind. */
void branch_text_write_flags(const struct branch_record *row, FILE *f);
