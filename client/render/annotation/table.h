/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A piece of code for people: its instructions, coloured by how often they ran. */
#pragma once

#include <stdbool.h>

#include "client/term/output.h"
#include "client/top/annotation.h"

/* @with_source: with source lines between the instructions. 0 or -ENOMEM. */
int annotation_write_table(const struct annotation *annotation, struct output *output,
			   bool with_source);
