/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The JSON that all commands share: addresses, places, and the origin of a profile. The functions
 * return NULL when out of memory; jansson's own functions pass it on.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "client/source/profile-source.h"
#include "client/view/place.h"
#include "common/json/json-text.h" /* strings */

json_t *json_address(uint64_t address);
json_t *json_build_id(const struct profile_object *object);
/* "FILE:N", or null where @file is NULL. */
json_t *json_line(const char *file, uint32_t line);
json_t *json_place(const struct place *place);

/* A window of the daemon's. Unless it was @read, an open one has no counts. */
json_t *json_window(const struct window_info *window, bool read);
/* The origin of a source: an array of windows, or of one object with the recording's path. */
json_t *json_windows(const struct profile_source *source);
/* Enough digits for the microseconds of a time. */
#define JSON_TIME_PRECISION JSON_REAL_PRECISION(16)
/* Writes @value by json_dumpf() with @flags, and takes it. 0, or -ENOMEM if it is NULL. */
int json_write(FILE *f, json_t *value, size_t flags);
/* All counters of what the source shows percentages of, by name, and what is missing. */
json_t *json_totals(const struct profile_source *source);
