/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `branchctl dump` for people: every table of a profile, every row of it.
 */
#pragma once

#include <stdio.h>

#include "client/source/profile-source.h"

/* 0 or -ENOMEM; what could not be written shows in ferror(f). */
int dump_write_text(const struct profile_source *source, FILE *f);
