/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/source/similar-names.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/term/text.h"
#include "common/profile/filter.h"
#include "common/util/cleanup.h"
#include "common/util/macro.h"
#include "common/util/percent.h"

#define MAX_NAMES 3
#define MIN_BYTES 3 /* fewer are in too many names */

/* The hottest first. */
struct similar {
	const struct profile_function *functions[MAX_NAMES];
	uint64_t samples[MAX_NAMES];
	size_t n;
	uint64_t all;
};

/* The samples of each function itself, which the caller frees; or NULL. */
static uint64_t *count_samples(const struct profile *p)
{
	uint64_t *samples = calloc(p->n_functions + 1, sizeof(*samples));

	for (size_t i = 0; samples && i < p->n_stacks; i++) {
		const struct profile_function *function =
			p->stacks[i].samples > 0 ? profile_find_function(p, p->stacks[i].frame) :
						   NULL;

		if (function)
			samples[function - p->functions] += p->stacks[i].samples;
	}
	return samples;
}

static void add(struct similar *similar, const struct profile_function *function, uint64_t samples)
{
	size_t at = similar->n;

	similar->all += samples;
	while (at > 0 && similar->samples[at - 1] < samples)
		at--;
	if (at == MAX_NAMES)
		return;
	similar->n = MIN(similar->n + 1, (size_t)MAX_NAMES);
	for (size_t i = similar->n - 1; i > at; i--) {
		similar->functions[i] = similar->functions[i - 1];
		similar->samples[i] = similar->samples[i - 1];
	}
	similar->functions[at] = function;
	similar->samples[at] = samples;
}

static void write_names(FILE *f, const struct similar *similar, uint64_t all)
{
	for (size_t i = 0; i < similar->n; i++) {
		fputs(i > 0 ? ", " : "", f);
		text_write(f, similar->functions[i]->name);
		fprintf(f, " (%.1f %%)", percent_of(similar->samples[i], all));
	}
}

static bool may_be_part(const char *wanted)
{
	return strlen(wanted) >= MIN_BYTES && !strpbrk(wanted, "*?[,");
}

char *similar_names_format(const struct profile *profile, const char *wanted)
{
	_cleanup_free_ uint64_t *samples = may_be_part(wanted) ? count_samples(profile) : NULL;

	return samples ? similar_names_format_counts(profile, samples, wanted) : NULL;
}

static char *format(const struct similar *similar, uint64_t all)
{
	char *text = NULL;
	size_t n_bytes;
	FILE *f;

	if (similar->n == 0)
		return NULL;
	f = open_memstream(&text, &n_bytes);
	if (!f)
		return NULL;
	write_names(f, similar, all);
	return fclose(f) == 0 ? text : NULL;
}

char *similar_names_format_matching(const struct profile *profile, const char *pattern)
{
	_cleanup_free_ uint64_t *samples = count_samples(profile);
	struct similar similar = {};

	for (size_t i = 0; samples && i < profile->n_functions; i++)
		if (samples[i] > 0 && profile_symbol_is_in(profile->functions[i].name, pattern))
			add(&similar, &profile->functions[i], samples[i]);
	return format(&similar, profile->counters.samples);
}

char *similar_names_format_counts(const struct profile *profile, const uint64_t *samples,
				  const char *wanted)
{
	struct similar similar = {};
	uint64_t n_matching = 0;

	if (!may_be_part(wanted))
		return NULL;
	for (size_t i = 0; i < profile->n_functions; i++) {
		const struct profile_function *function = &profile->functions[i];

		if (profile_symbol_is_in(function->name, wanted))
			n_matching += samples[i];
		else if (samples[i] > 0 && strcasestr(function->name, wanted))
			add(&similar, function, samples[i]);
	}
	return similar.all < n_matching ? NULL : format(&similar, profile->counters.samples);
}
