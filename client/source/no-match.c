/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/source/no-match.h"

#include <stdlib.h>
#include <string.h>

#include "client/source/similar-names.h"
#include "client/term/text.h"
#include "common/profile/container.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "common/util/percent.h"

#define N_NAMES 5

typedef char name_text[CONTAINER_TEXT_MAX];

/* What a filter of processes is about. @format: false if the process has none. */
struct kind {
	const char *plural, *none;
	bool (*format)(name_text ret, const struct profile_process *process);
};

static bool format_comm(name_text ret, const struct profile_process *process)
{
	snprintf(ret, sizeof(name_text), "%s", process->comm ?: "");
	return ret[0] != '\0';
}

static bool format_unit(name_text ret, const struct profile_process *process)
{
	snprintf(ret, sizeof(name_text), "%s", process->unit ?: "");
	return ret[0] != '\0';
}

static bool format_container(name_text ret, const struct profile_process *process)
{
	struct container container;

	if (!container_find(&container, process->unit))
		return false;
	snprintf(ret, sizeof(name_text), "%.*s",
		 (int)MIN(container.n_id, (size_t)CONTAINER_SHORT_ID), container.id);
	return true;
}

static const struct kind *find_kind(const struct profile_filter *filter)
{
	static const struct kind processes = { "processes", "no process is known", format_comm },
				 units = { "units", "no process is in a unit", format_unit },
				 containers = { "containers", "no process is in a container",
						format_container };

	return filter->container ? &containers : filter->unit ? &units : &processes;
}

struct names {
	const struct kind *kind;
	name_text of[N_NAMES + 1]; /* the last one only shows that there are more */
	size_t n;
};

static bool is_listed(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (strcmp(names->of[i], name) == 0)
			return true;
	return false;
}

/* Adds the name with most samples in one process of those that are not listed yet. */
static bool add_next(struct names *names, const struct profile *p)
{
	uint64_t most = 0;
	name_text name;

	for (size_t i = 0; i < p->n_processes; i++) {
		const struct profile_process *process = &p->processes[i];

		if (process->samples <= most || !names->kind->format(name, process) ||
		    is_listed(names, name))
			continue;
		most = process->samples;
		memcpy(names->of[names->n], name, sizeof(name));
	}
	names->n += most > 0;
	return most > 0;
}

void no_match_say(const char *name, const struct profile *all, const struct profile_filter *filter,
		  FILE *f)
{
	struct names names = { .kind = find_kind(filter) };
	char list[N_NAMES * sizeof(name_text) + 16] = "";
	size_t n = 0;

	while (names.n <= N_NAMES && add_next(&names, all))
		;
	for (size_t i = 0; i < MIN(names.n, (size_t)N_NAMES); i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", i > 0 ? ", " : "",
				      names.of[i]);
	if (n > 0)
		text_say(f, "%s: nothing matches the filters; there are the %s %s%s", name,
			 names.kind->plural, list, names.n > N_NAMES ? ", ..." : "");
	else
		text_say(f,
			 "%s: nothing matches the filters, %s; branchctl top --by process shows "
			 "what there is",
			 name, names.kind->none);
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
