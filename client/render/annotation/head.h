/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lines above annotated code: what it is, how much was counted, and what is not known. */
#pragma once

#include "client/term/output.h"
#include "client/top/annotation.h"

/* Within the width of the output, where words permit. 0 or -ENOMEM. */
int annotation_write_head(const struct annotation *annotation, struct output *output);
