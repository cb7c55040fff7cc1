/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `branchctl dump` for people: all rows of all tables of a profile.
 */
#pragma once

#include <stdio.h>

#include "client/source/profile-source.h"

/* 0 or -ENOMEM; ferror(f) shows write errors. */
int dump_write_text(const struct profile_source *source, FILE *f);
