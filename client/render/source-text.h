/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Lines of source files on this disk, read with the user's permissions, for display only.
 */
#pragma once

#include <stdint.h>

#include "common/util/macro.h"

struct source_text;

int source_text_new(struct source_text **ret);
struct source_text *source_text_free(struct source_text *text);
DEFINE_CLEANUP(struct source_text *, source_text_free);

/* Line @line, from 1 on, of the file at @path, without newline; or NULL. Borrowed. */
const char *source_text_line(struct source_text *text, const char *path, uint32_t line);
