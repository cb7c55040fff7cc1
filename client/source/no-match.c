/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/source/no-match.h"

#include <stdlib.h>
#include <string.h>

#include "client/source/similar-names.h"
#include "client/term/text.h"
#include "common/util/cleanup.h"

#define N_NAMES 5

static bool is_listed(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

/* The name with most samples in one process of those that are not listed yet, or NULL. */
static const char *find_next(const struct profile *p, const char *const *names, size_t n)
{
	const struct profile_process *most = NULL;

	for (size_t i = 0; i < p->n_processes; i++) {
		const struct profile_process *process = &p->processes[i];

		if (process->samples > 0 && process->comm && process->comm[0] != '\0' &&
		    (!most || process->samples > most->samples) &&
		    !is_listed(names, n, process->comm))
			most = process;
	}
	return most ? most->comm : NULL;
}

/* The caller frees the text; NULL: no process is known. */
static char *name_processes(const struct profile *p)
{
	const char *names[N_NAMES] = { NULL };
	char *text = NULL;
	size_t n = 0, n_bytes;
	FILE *f;

	while (n < N_NAMES && (names[n] = find_next(p, names, n)))
		n++;
	f = n > 0 ? open_memstream(&text, &n_bytes) : NULL;
	if (!f)
		return NULL;
	for (size_t i = 0; i < n; i++)
		fprintf(f, "%s%s", i > 0 ? ", " : "", names[i]);
	fputs(find_next(p, names, n) ? ", ..." : "", f);
	return fclose(f) == 0 ? text : NULL;
}

void no_match_say(const char *name, const struct profile *all, FILE *f)
{
	_cleanup_free_ char *names = all ? name_processes(all) : NULL;

	if (names)
		text_say(f, "%s: nothing matches the filters; there are the processes %s", name,
			 names);
	else
		text_say(f,
			 "%s: nothing matches the filters; branchctl top --by process shows what "
			 "there is",
			 name);
}

void no_match_say_place(const char *name, const char *symbol, const struct profile *all, FILE *f)
{
	_cleanup_free_ char *names = symbol ? similar_names_format(all, symbol) : NULL;

	if (names)
		text_say(f,
			 "%s: nothing matches the filters; --symbol '*%s*' matches similar names: "
			 "%s",
			 name, symbol, names);
	else
		text_say(f,
			 "%s: nothing matches the filters; branchctl top %s lists the %s there are",
			 name, symbol ? "-n 0" : "--by object -n 0",
			 symbol ? "functions" : "objects");
}

void no_match_say_similar(const char *symbol, const struct profile *all, FILE *f)
{
	_cleanup_free_ char *names = similar_names_format(all, symbol);

	if (names)
		text_say(f, "similar names are hotter, --symbol '*%s*' matches them, too: %s",
			 symbol, names);
}
