/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Converts strings of any bytes to JSON strings, which must be UTF-8, and back without loss. A byte
 * that is not part of valid UTF-8 becomes a character of U+EF80 to U+EFFF (private use) with the
 * same low seven bits. Where the input has these characters themselves, their bytes count as
 * invalid. So paths and names in UTF-8 stay as they are.
 */
#pragma once

#include <jansson.h>

/* A new JSON string, or null for NULL. NULL if memory runs out. */
json_t *json_text(const char *bytes);

/* The bytes of a JSON string's value, for the caller to free. NULL if memory runs out. */
char *json_text_bytes(const char *text);
