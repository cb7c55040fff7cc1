/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The lines of `branchctl status`: values of the daemon's reply, and how they are written. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#define STATUS_INDENT 10 /* of what is said of a word */

struct status_text {
	const json_t *json; /* the reply */
	FILE *f;
	bool colors;
	uint64_t now_us;
};

/* The member @name of the object @part; of the reply itself if that is NULL. NULL: it has none. */
const json_t *status_find(const struct status_text *s, const char *part, const char *name);

/* 0, "" and false where it is missing. */
uint64_t status_get(const struct status_text *s, const char *part, const char *name);
const char *status_get_text(const struct status_text *s, const char *part, const char *name);
bool status_is_true(const struct status_text *s, const char *part, const char *name);

/* The begin of a line, of @word or, if that is "", of the word before. */
void status_begin(const struct status_text *s, const char *word);

/* A line of its own, unless the text is empty. */
void status_note(const struct status_text *s, const char *text);

/* A line such as "3 windows not written yet", unless that member is 0. */
void status_count(const struct status_text *s, const char *part, const char *name, const char *noun,
		  const char *what);

void status_write_bytes(const struct status_text *s, uint64_t n);
/* "3 days 4 h", "3 h 12 min", "12 min", "5.2 s" */
void status_write_duration(const struct status_text *s, uint64_t us);
void status_write_time(const struct status_text *s, uint64_t us);
