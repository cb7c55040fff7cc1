/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/progress.h"
#include "client/text.h"
#include "common/profile/load.h"
#include "common/util/cleanup.h"

int source_check_word(const char *word, struct fault *fault)
{
	size_t n = word ? strlen(word) : 0;

	if (word && (strchr(word, '/') || (n >= 5 && strcmp(word + n - 5, ".data") == 0)))
		return 0;
	if (!word)
		return fault_set(
			fault, -ENOTSUP,
			"the latest windows are the daemon branchd's, and it is not there; "
			"give a recording: a path with a '/' or ending in .data");
	if (access(word, F_OK) == 0)
		return fault_set(fault, -ENOTSUP,
				 "'%s' is taken for a window, which needs the daemon branchd; "
				 "for the recording of that name give ./%s",
				 word, word);
	return fault_set(fault, -ENOTSUP,
			 "window '%s' needs the daemon branchd, and it is not there; "
			 "give a recording: a path with a '/' or ending in .data",
			 word);
}

static int load(struct source *source, const struct options *options, struct fault *fault)
{
	struct progress progress;
	struct load_settings settings = {
		.force = options->force,
		.event = options->event,
		.progress = progress_update,
		.userdata = &progress,
	};
	int r;

	progress_init(&progress);
	r = profile_load(&source->all, source->path, &settings, &source->damage, &source->others,
			 fault);
	progress_done(&progress);
	return r;
}

static int name(struct source *source, const struct options *options)
{
	int r = symbolizer_new(&source->symbolizer, &options->symbols);

	if (r < 0)
		return r;
	r = symbolizer_name_profile(source->symbolizer, source->all);
	return r < 0 ? r : profile_seal(source->all);
}

/* First the processes, for they are what percentages refer to; then what is within them. */
static int filter(struct source *source, const struct profile_filter *filter)
{
	struct profile_filter processes = *filter, places = PROFILE_FILTER_INIT;
	struct profile *all;
	int r;

	processes.object = processes.symbol = NULL;
	places.object = filter->object;
	places.symbol = filter->symbol;
	if (filter->pid >= 0 || filter->uid >= 0 || filter->comm || filter->unit) {
		r = profile_filter(&all, source->all, &processes);
		if (r < 0)
			return r;
		profile_free(source->all);
		source->all = all;
		source->filtered = true;
	}
	if (places.object || places.symbol) {
		r = profile_filter(&source->part, source->all, &places);
		if (r < 0)
			return r;
	}
	source->shown = source->part ?: source->all;
	source->filtered |= source->part != NULL;
	return 0;
}

int source_open(struct source **ret, const struct options *options, struct fault *fault)
{
	_cleanup_(source_freep) struct source *source = calloc(1, sizeof(*source));
	int r;

	if (!source)
		return fault_set(fault, -ENOMEM, "out of memory");
	r = source_check_word(options->window, fault);
	if (r < 0)
		return r;
	source->path = options->window;
	r = load(source, options, fault);
	if (r < 0)
		return r;
	r = name(source, options);
	if (r >= 0)
		r = filter(source, &options->filter);
	if (r < 0)
		return fault_set(fault, r, "%s: %s", source->path, strerror(-r));
	*ret = TAKE_PTR(source);
	return 0;
}

struct source *source_free(struct source *source)
{
	if (!source)
		return NULL;
	profile_free(source->part);
	profile_free(source->all);
	symbolizer_free(source->symbolizer);
	free(source->others);
	free(source);
	return NULL;
}

/* What to say of symbols that were not found: of one object the reason, of more how many. */
struct problems {
	const struct profile *profile;
	uint64_t *samples; /* by object, whose leaf lies in it; 0 once it is counted */
	uint64_t n_samples;
	size_t n;
	const char *path, *why;
};

/* Several files may have had one path, but they are told apart by the profile alone. */
static void count_problem(const char *path, const char *why, void *userdata)
{
	struct problems *problems = userdata;
	const struct profile *profile = problems->profile;

	problems->n++;
	problems->path = path;
	problems->why = why;
	for (size_t i = 0; i < profile->n_objects; i++)
		if (strcmp(profile->objects[i].path, path) == 0) {
			problems->n_samples += problems->samples[i];
			problems->samples[i] = 0;
		}
}

static int count_problems(struct problems *problems, const struct source *source)
{
	const struct profile *profile = source->all;

	*problems = (struct problems){ .profile = profile };
	problems->samples = calloc(profile->n_objects + 1, sizeof(*problems->samples));
	if (!problems->samples)
		return -ENOMEM;
	for (size_t i = 0; i < profile->n_stacks; i++)
		if (profile->stacks[i].frame.object != PROFILE_NONE)
			problems->samples[profile->stacks[i].frame.object] +=
				profile->stacks[i].samples;
	symbolizer_for_each_problem(source->symbolizer, count_problem, problems);
	free(problems->samples);
	return 0;
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void say_symbols(const struct source *source, FILE *f)
{
	uint64_t all = source->all->counters.samples;
	struct problems problems;
	double percent;

	if (count_problems(&problems, source) < 0 || problems.n == 0)
		return;
	percent = all > 0 ? 100.0 * (double)problems.n_samples / (double)all : 0;
	if (problems.n == 1) {
		fputs("branchctl: no symbols of ", f);
		text_write(f, last_component(problems.path));
		fprintf(f, " (%.1f %% of the samples): ", percent);
		text_write(f, problems.why);
		fputc('\n', f);
		return;
	}
	fprintf(f,
		"branchctl: no symbols of %zu objects (%.1f %% of the samples); branchctl dump %s "
		"lists them\n",
		problems.n, percent, source->path);
}

void source_say(const struct source *source, FILE *f)
{
	const struct profile *shown = source->shown;

	if (source->damage.fault.text[0] != '\0')
		fprintf(f, "branchctl: %s: %s; lost: the %" PRIu64 " bytes from there on\n",
			source->path, source->damage.fault.text, source->damage.n_bytes_lost);
	if (source->others)
		fprintf(f, "branchctl: counting %s; also recorded, see --event: %s\n",
			shown->info.event ?: "the first event", source->others);
	if (source->filtered && shown->counters.samples == 0 && shown->n_branches == 0)
		fprintf(f, "branchctl: nothing in it matches the filters\n");
	say_symbols(source, f);
}
