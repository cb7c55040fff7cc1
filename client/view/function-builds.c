/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/view/function-builds.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/term/text.h"
#include "client/view/place.h"
#include "common/util/cleanup.h"
#include "common/util/compare.h"

static uint64_t count_samples(const struct profile *p, const struct profile_function *function)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->n_stacks; i++) {
		struct location at = p->stacks[i].frame;

		if (at.object == function->object && at.offset - function->start < function->size)
			n += p->stacks[i].samples;
	}
	return n;
}

static bool is_other(const struct profile *p, const struct profile_function *a,
		     const struct profile_function *b)
{
	return b->object != PROFILE_NONE && strcmp(a->name, b->name) == 0 &&
	       builds_differ(&p->objects[a->object], &p->objects[b->object]);
}

static void add(struct function_builds *builds, const struct profile_function *function)
{
	if (builds->n == FUNCTION_BUILDS_MAX)
		return;
	builds->samples[builds->n] = count_samples(builds->source->all, function);
	builds->functions[builds->n++] = function;
}

static int compare_builds(const struct function_builds *builds, const struct build_age *ages,
			  size_t a, size_t b)
{
	int r = builds_compare_ages(&ages[builds->functions[b]->object],
				    &ages[builds->functions[a]->object]);

	return r ?: COMPARE(builds->samples[b], builds->samples[a]);
}

static void swap(struct function_builds *builds, size_t a, size_t b)
{
	const struct profile_function *function = builds->functions[a];
	uint64_t samples = builds->samples[a];

	builds->functions[a] = builds->functions[b];
	builds->samples[a] = builds->samples[b];
	builds->functions[b] = function;
	builds->samples[b] = samples;
}

static void sort(struct function_builds *builds, const struct build_age *ages)
{
	for (size_t i = 1; i < builds->n; i++)
		for (size_t k = i; k > 0 && compare_builds(builds, ages, k, k - 1) < 0; k--)
			swap(builds, k, k - 1);
	builds->is_known =
		builds->n > 1 && builds_compare_ages(&ages[builds->functions[0]->object],
						     &ages[builds->functions[1]->object]) != 0;
}

int function_builds_find(struct function_builds *ret, const struct profile_source *source,
			 const struct profile_source_settings *settings,
			 const struct profile_function *function)
{
	const struct profile *p = source->all;
	_cleanup_free_ struct build_age *ages = NULL;
	int r;

	*ret = (struct function_builds){ .source = source };
	add(ret, function);
	for (size_t i = 0; i < p->n_functions; i++)
		if (is_other(p, function, &p->functions[i]))
			add(ret, &p->functions[i]);
	if (ret->n == 1)
		return 0;
	r = builds_find_ages(&ages, source, settings);
	if (r >= 0)
		sort(ret, ages);
	return r;
}

/* "12cd3e4f (3400 samples)" */
static void write_build(FILE *f, const struct function_builds *builds, size_t i)
{
	const struct profile_object *object =
		&builds->source->all->objects[builds->functions[i]->object];
	char hex[BUILD_ID_HEX_SIZE];

	fprintf(f, "%s (%" PRIu64 " sample%s)",
		object->n_build_id > 0 ? build_format(hex, object) : "one without build-id",
		builds->samples[i], text_plural(builds->samples[i]));
}

static void write_text(FILE *f, const struct function_builds *builds, size_t shown)
{
	const struct profile_function *function = builds->functions[shown];
	const struct profile_object *object = &builds->source->all->objects[function->object];
	const char *which = !builds->is_known ? "; which is newer is not known" :
			    shown == 0        ? ", the newest" :
						"";
	size_t n = 0;

	fprintf(f, "%s is in %zu builds of %s: this is ", function->name, builds->n,
		place_object_name(object));
	write_build(f, builds, shown);
	fprintf(f, "%s; --object ID shows ", which);
	for (size_t i = 0; i < builds->n; i++) {
		if (i == shown)
			continue;
		fputs(n++ > 0 ? ", " : "", f);
		write_build(f, builds, i);
		fputs(builds->is_known && i == 0 ? ", the newest" : "", f);
	}
}

void function_builds_say(const struct function_builds *builds, const struct profile_function *shown,
			 FILE *f)
{
	_cleanup_free_ char *text = NULL;
	size_t n, at = 0;
	FILE *to;

	if (builds->n < 2)
		return;
	while (at + 1 < builds->n && builds->functions[at] != shown)
		at++;
	to = open_memstream(&text, &n);
	if (!to)
		return;
	write_text(to, builds, at);
	if (fclose(to) == 0)
		text_say(f, "%s", text);
}
