/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pieces of code for scripts: one JSON object, described in branchctl(1). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "client/top/annotation.h"

/* One piece. @with_source: with the source line of each instruction. 0 or -ENOMEM. */
int annotation_write_json(const struct annotation *annotation, FILE *f, bool with_source);

/* Several: what is before them, each, and what is behind them. 0 or -ENOMEM. */
int annotation_begin_json(const struct profile_source *source, FILE *f);
int annotation_add_json(const struct annotation *annotation, size_t i, FILE *f, bool with_source);
void annotation_end_json(FILE *f);
