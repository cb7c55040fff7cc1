/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/problems.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "client/term/elide.h"
#include "client/term/text.h"
#include "client/view/place.h"
#include "common/util/cleanup.h"
#include "common/util/percent.h"

struct problems {
	const struct profile *profile;
	uint64_t *samples; /* by object of the leaf; 0 once counted */
	uint64_t n_samples;
	size_t n;
	const char *path, *why; /* of the last problem */
	bool differ;            /* not all for the same reason */
};

/* Several objects of the profile may have this path. */
static void count_problem(const char *path, const char *why, void *userdata)
{
	struct problems *problems = userdata;
	const struct profile *profile = problems->profile;

	problems->n++;
	problems->differ |= problems->why && strcmp(problems->why, why) != 0;
	problems->path = path;
	problems->why = why;
	for (size_t i = 0; profile && i < profile->n_objects; i++)
		if (strcmp(profile->objects[i].path, path) == 0) {
			problems->n_samples += problems->samples[i];
			problems->samples[i] = 0;
		}
}

/* False when out of memory. */
static bool count_samples(struct problems *problems)
{
	const struct profile *profile = problems->profile;

	problems->samples = calloc(profile->n_objects + 1, sizeof(*problems->samples));
	for (size_t i = 0; problems->samples && i < profile->n_stacks; i++)
		if (profile->stacks[i].frame.object != PROFILE_NONE)
			problems->samples[profile->stacks[i].frame.object] +=
				profile->stacks[i].samples;
	return problems->samples;
}

#define MAX_WORD 40

static bool is_build_id(const char *word, size_t n)
{
	return n >= 32 && strspn(word, "0123456789abcdef") >= n;
}

/* Shortens paths and build-ids in @why, so that the line fits a terminal. */
static void write_reason(FILE *f, const char *why)
{
	while (*why) {
		size_t n = strcspn(why, " ,:"), n_between = strspn(why + n, " ,:");
		_cleanup_free_ char *word = strndup(why, n);
		_cleanup_free_ char *path =
			word && *word == '/' ? elide_path(word, MAX_WORD) : NULL;
		_cleanup_free_ char *between = strndup(why + n, n_between);

		if (word && is_build_id(word, n))
			memcpy(word + 12, "...", 4);
		text_write(f, path ?: word ?: "");
		text_write(f, between ?: " ");
		why += n + n_between;
	}
}

static void write_share(FILE *f, const struct problems *problems)
{
	if (problems->profile)
		fprintf(f, " (%.1f %% of the samples)",
			percent_of(problems->n_samples, problems->profile->counters.samples));
}

static void write_problems(FILE *f, const struct problems *problems)
{
	struct profile_object last = { .path = problems->path };

	fputs("branchctl: ", f);
	if (problems->n == 1)
		text_write(f, place_object_name(&last));
	else
		fprintf(f, "%zu objects", problems->n);
	fputs(" without symbols", f);
	write_share(f, problems);
	if (problems->differ) {
		fputs("; branchctl dump shows why", f);
	} else {
		fputs(": ", f);
		write_reason(f, problems->why);
	}
	fputc('\n', f);
}

void problems_say(const struct symbolizer *symbolizer, const struct profile *profile, FILE *f)
{
	struct problems problems = { .profile = profile };

	if (profile && !count_samples(&problems))
		return;
	symbolizer_for_each_problem(symbolizer, count_problem, &problems);
	if (problems.n > 0)
		write_problems(f, &problems);
	free(problems.samples);
}

void problems_say_source(const struct profile_source *source, FILE *f)
{
	if (source->is_recording)
		problems_say(source->symbolizer, source->all, f);
}
