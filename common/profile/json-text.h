/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Strings of any bytes as JSON strings, which must be UTF-8, and back, exactly. A byte that is not
 * part of valid UTF-8 becomes one of the characters U+EF80 to U+EFFF, which are for private use:
 * its low seven bits are the byte's. (These characters themselves, should they ever occur, are
 * taken as invalid bytes.) So a path or name that is UTF-8 looks in JSON as it is.
 */
#pragma once

#include <jansson.h>

/* A new JSON string; null for NULL; or NULL for want of memory. */
json_t *json_text(const char *bytes);

/* The bytes again, of the value of a JSON string; NULL for want of memory. Free it. */
char *json_text_bytes(const char *text);
