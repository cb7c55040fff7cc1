/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cli/completion.h"

#include <string.h>

#include "common/util/printable.h"

void completion_begin(struct completion *completion, const char *word, size_t n_kept, bool is_list)
{
	const char *comma = is_list ? strrchr(word + n_kept, ',') : NULL;

	completion->kept = word;
	completion->n_kept = comma ? (size_t)(comma + 1 - word) : n_kept;
	completion->begun = word + completion->n_kept;
	completion->is_list = is_list;
}

/* Names of programs may be anything: no line may become two, or more than it says. */
static bool is_plain(const char *text)
{
	char copy[1024];

	if (strlen(text) >= sizeof(copy))
		return false;
	printable_make(strcpy(copy, text));
	return strcmp(copy, text) == 0;
}

/* The lines of a help as one. */
static void write_what(FILE *f, const char *what)
{
	char copy[160];

	snprintf(copy, sizeof(copy), "%s", what);
	for (char *c = copy; *c; c++)
		if (*c == '\n' || *c == '\t')
			*c = ' ';
	printable_make(copy);
	fprintf(f, "\t%s", copy);
}

void completion_add(struct completion *completion, const char *text, const char *what)
{
	if (!text || *text == '\0' || completion->n >= COMPLETION_MAX ||
	    strncmp(text, completion->begun, strlen(completion->begun)) != 0 || !is_plain(text) ||
	    (completion->is_list && strchr(text, ',')))
		return;
	fprintf(completion->f, "%.*s%s", (int)completion->n_kept, completion->kept, text);
	if (what && *what)
		write_what(completion->f, what);
	fputc('\n', completion->f);
	completion->n++;
}
