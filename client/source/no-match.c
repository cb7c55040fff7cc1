/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/source/no-match.h"

#include <stdlib.h>
#include <string.h>

#include "client/source/similar-names.h"
#include "client/term/text.h"
#include "common/profile/filter.h"
#include "common/util/cleanup.h"
#include "common/util/percent.h"

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

/* The samples that have a function of @symbol in their stacks; 0 out of memory, too. */
static uint64_t count_in_stacks(const struct profile *p, const char *symbol)
{
	_cleanup_free_ bool *wanted = calloc(p->n_functions + 1, sizeof(*wanted));
	_cleanup_free_ bool *inside = calloc(p->n_stacks + 1, sizeof(*inside));
	uint64_t n = 0;

	for (size_t i = 0; wanted && i < p->n_functions; i++)
		wanted[i] = profile_symbol_is_in(p->functions[i].name, symbol);
	for (size_t i = 0; wanted && inside && i < p->n_stacks; i++) {
		const struct profile_stack *stack = &p->stacks[i];
		const struct profile_function *function =
			profile_find_function(p, profile_place_frame(p, stack->frame));

		/* a parent comes before its children */
		inside[i] = (stack->parent != PROFILE_NONE && inside[stack->parent]) ||
			    (function && wanted[function - p->functions]);
		n += inside[i] ? stack->samples : 0;
	}
	return n;
}

/* A caller is in stacks, and no sample is in its own code. */
static bool say_callers(const char *name, const char *symbol, const struct profile *all, FILE *f)
{
	uint64_t n = count_in_stacks(all, symbol);

	if (n == 0)
		return false;
	text_say(f,
		 "%s: no sample is in '%s' itself, %.1f %% are in what it calls: branchctl top "
		 "--sort total has its row, --by stack --tree what it calls",
		 name, symbol, percent_of(n, all->counters.samples));
	return true;
}

void no_match_say_place(const char *name, const char *symbol, const struct profile *all, FILE *f)
{
	_cleanup_free_ char *names = symbol ? similar_names_format(all, symbol) : NULL;

	if (symbol && say_callers(name, symbol, all, f))
		return;
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
