/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A piece of code for scripts: one JSON object, described in branchctl(1). */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "client/view/annotation.h"

/* @with_source: with the source line of each instruction. 0 or -ENOMEM. */
int annotation_write_json(const struct annotation *annotation, FILE *f, bool with_source);
