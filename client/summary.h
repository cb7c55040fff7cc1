/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The lines above a table: what it was made of, and what of that is not in it.
 */
#pragma once

#include <stdio.h>

#include "client/source.h"
#include "client/view.h"

void summary_write(FILE *f, const struct source *source, enum view_by by);
