/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/problems.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "client/term/elide.h"
#include "client/term/text.h"
#include "client/view/object-name.h"
#include "client/view/place.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/percent.h"

/* An object without symbols; several objects of the profile may have its path. */
struct problem {
	const char *path, *why;
	uint64_t samples;
};

struct problems {
	const struct profile *profile;
	uint64_t *samples; /* by object of the leaf; 0 once counted */
	bool *counted;     /* by object: whether there are any counts */
	uint64_t n_samples;
	struct problem *rows;
	size_t n, cap;
	bool differ; /* not all for the same reason */
	int r;       /* -ENOMEM */
};

static void problems_done(struct problems *problems)
{
	free(problems->samples);
	free(problems->counted);
	free(problems->rows);
}

/* Whether the filters left something of the object with @path. */
static bool is_counted(const struct problems *problems, const char *path)
{
	const struct profile *profile = problems->profile;

	for (size_t i = 0; profile && i < profile->n_objects; i++)
		if (problems->counted[i] && strcmp(profile->objects[i].path, path) == 0)
			return true;
	return !profile;
}

static void count_problem(const char *path, const char *why, void *userdata)
{
	struct problems *problems = userdata;
	const struct profile *profile = problems->profile;
	struct problem *row;

	if (!is_counted(problems, path))
		return;
	if (ARRAY_RESERVE(&problems->rows, &problems->cap, problems->n + 1) < 0) {
		problems->r = -ENOMEM;
		return;
	}
	problems->differ |= problems->n > 0 && strcmp(problems->rows[0].why, why) != 0;
	row = &problems->rows[problems->n++];
	*row = (struct problem){ path, why, 0 };
	for (size_t i = 0; profile && i < profile->n_objects; i++)
		if (strcmp(profile->objects[i].path, path) == 0) {
			row->samples += problems->samples[i];
			problems->samples[i] = 0;
		}
	problems->n_samples += row->samples;
}

static int compare_samples(const void *a, const void *b)
{
	const struct problem *x = a, *y = b;

	return x->samples > y->samples ? -1 : x->samples < y->samples;
}

static void count(struct problems *problems, struct location at, uint64_t samples)
{
	if (at.object == PROFILE_NONE)
		return;
	problems->samples[at.object] += samples;
	problems->counted[at.object] = true;
}

/* False when out of memory. */
static bool count_samples(struct problems *problems)
{
	const struct profile *profile = problems->profile;

	problems->samples = calloc(profile->n_objects + 1, sizeof(*problems->samples));
	problems->counted = calloc(profile->n_objects + 1, sizeof(*problems->counted));
	if (!problems->samples || !problems->counted)
		return false;
	for (size_t i = 0; i < profile->n_stacks; i++)
		count(problems, profile->stacks[i].frame, profile->stacks[i].samples);
	for (size_t i = 0; i < profile->n_branches; i++) {
		count(problems, profile->branches[i].from, 0);
		count(problems, profile->branches[i].to, 0);
	}
	for (size_t i = 0; i < profile->n_streams; i++) {
		count(problems, profile->streams[i].from, 0);
		count(problems, profile->streams[i].to, 0);
	}
	for (size_t i = 0; i < profile->n_blocks; i++)
		count(problems, (struct location){ profile->blocks[i].object, 0 }, 0);
	return true;
}

#define MAX_WORD  40
#define MAX_NAMES 3

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

static void write_share(FILE *f, const struct problems *problems, uint64_t samples,
			const char *unit)
{
	if (problems->profile)
		fprintf(f, " (%.1f %%%s)", percent_of(samples, problems->profile->counters.samples),
			unit);
}

static void write_name(FILE *f, const struct problem *problem)
{
	struct profile_object object = { .path = problem->path };

	text_write(f, place_object_name(&object));
}

/* Those that matter most. */
static void write_names(FILE *f, const struct problems *problems)
{
	for (size_t i = 0; i < problems->n && i < MAX_NAMES; i++) {
		fputs(i > 0 ? ", " : ": ", f);
		write_name(f, &problems->rows[i]);
		write_share(f, problems, problems->rows[i].samples, "");
	}
	if (problems->n > MAX_NAMES)
		fputs(", ...", f);
}

/* What helps: there is no file, it is another one, or its symbols were taken out of it. */
static const char *remedy(const char *path, const char *why)
{
	const char *end = strstr(why, " has no symbols");
	bool is_bare = end && strcmp(end, " has no symbols") == 0;

	if (is_bare && !object_name_is_packaged(path))
		return "; build it with symbols, give the folder of the unstripped file by "
		       "--debug-dir, or a debuginfod server by DEBUGINFOD_URLS";
	if (is_bare)
		return "; install its debug symbols, give their folder by --debug-dir, or a "
		       "debuginfod server by DEBUGINFOD_URLS";
	if (strncmp(why, "not found", strlen("not found")) == 0 || strstr(why, " has build-id "))
		return "; give the root of a copy by --symfs, or a debuginfod server by "
		       "DEBUGINFOD_URLS";
	return "";
}

static void write_problems(FILE *f, const struct problems *problems)
{
	const struct problem *first = &problems->rows[0];

	fputs("branchctl: ", f);
	if (problems->n == 1)
		write_name(f, first);
	else
		fprintf(f, "%zu objects", problems->n);
	fputs(" without symbols", f);
	write_share(f, problems, problems->n_samples, " of the samples");
	if (problems->n > 1)
		write_names(f, problems);
	if (problems->differ) {
		fputs("; install debug symbols, give --debug-dir, --symfs or DEBUGINFOD_URLS; "
		      "branchctl dump shows the reason of each",
		      f);
	} else {
		fputs(problems->n > 1 ? "; " : ": ", f);
		write_reason(f, first->why);
		fputs(remedy(first->path, first->why), f);
	}
	fputc('\n', f);
}

void problems_say(const struct symbolizer *symbolizer, const struct profile *profile, FILE *f)
{
	_cleanup_(problems_done) struct problems problems = { .profile = profile };

	if (profile && !count_samples(&problems))
		return;
	symbolizer_for_each_problem(symbolizer, count_problem, &problems);
	if (problems.n == 0 || problems.r < 0)
		return;
	qsort(problems.rows, problems.n, sizeof(*problems.rows), compare_samples);
	write_problems(f, &problems);
}

void problems_say_source(const struct profile_source *source, FILE *f)
{
	/* of nothing, nothing is said */
	if (source->is_recording && profile_source_has_match(source))
		problems_say(source->symbolizer, source->all, f);
}
