/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values of TabSeparated. */
#pragma once

#include <stdint.h>
#include <stdio.h>

/* What would end a value is escaped; NULL is an empty one. */
void text_put(FILE *f, const char *value);
void text_put_hex(FILE *f, const uint8_t *bytes, size_t n);
/* A day since 1970, as 2026-11-20. */
void text_put_day(FILE *f, uint64_t day);
