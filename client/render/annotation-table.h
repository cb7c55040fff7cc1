/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A piece of code for people: its instructions, in colours by how often they ran. */
#pragma once

#include <stdbool.h>

#include "client/term/output.h"
#include "client/view/annotation.h"

/* @with_source: between the instructions the source lines they are of. 0 or -ENOMEM. */
int annotate_write_table(const struct annotation *annotation, struct output *output,
			 bool with_source);
