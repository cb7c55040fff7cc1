/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Candidates for a word that a user has begun, as they are written for the shells: a line each, the
 * whole word, a tab, what it is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define COMPLETION_MAX 1000 /* candidates */

struct completion {
	FILE *f;
	const char
		*kept; /* n_kept bytes stay before each candidate: of "--by=li" those of "--by=" */
	size_t n_kept;
	const char *begun; /* "li" */
	bool is_list;      /* of words with commas between them */
	size_t n;
};

/*
 * Of a @word whose first @n_kept bytes stay as they are. In a list what is before the last comma
 * stays, too.
 */
void completion_begin(struct completion *completion, const char *word, size_t n_kept, bool is_list);

/*
 * Writes @text, and @what it is (or NULL), if it begins as the word does. Left out is what no shell
 * has in a line, and in lists what has a comma.
 */
void completion_add(struct completion *completion, const char *text, const char *what);
