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
#include "common/profile/json-text.h" /* strings */

json_t *json_address(uint64_t address);
json_t *json_build_id(const struct profile_object *object);
/* "FILE:N", or null where @file is NULL. */
json_t *json_line(const char *file, uint32_t line);
json_t *json_place(const struct place *place);

/* A window of the daemon's. */
json_t *json_window(const struct window_info *window);
/* The origin of a source: an array of windows, or of one object with the recording's path. */
json_t *json_windows(const struct profile_source *source);
/* Enough digits for the microseconds of a time. */
#define JSON_TIME_PRECISION JSON_REAL_PRECISION(16)
/* Writes @value by json_dumpf() with @flags, and takes it. 0, or -ENOMEM if it is NULL. */
int json_write(FILE *f, json_t *value, size_t flags);
/* All counters of @counters by name, and "lost": the sum of the losses. */
json_t *json_totals(const struct profile_counters *counters);
