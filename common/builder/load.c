/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/builder/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/builder/builder.h"
#include "common/builder/duplicate-record.h"
#include "common/process/processes.h"
#include "common/profile/unite.h"
#include "common/util/cleanup.h"

/* A recording is read once and ends: it may take more memory than a window. */
#define MAX_ROWS       (1u << 20)
#define MAX_FRAMES     (1u << 20)
#define ROWS_AHEAD     (1u << 19)
#define PROGRESS_EVERY 4096 /* events */
#define MAX_NAMES      64   /* in a message */

static bool samples_anything(const struct perf_event_attr *attr)
{
	bool dummy = attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;

	return attr->sample_period != 0 && !dummy;
}

/* "cycles"; the second one of that name is "cycles#2": what --event takes. */
static void write_name(FILE *f, const struct recording *recording, uint32_t source)
{
	const char *name = recording_source_name(recording, source);
	unsigned int n = 1;

	for (uint32_t i = 0; i < source; i++)
		n += strcmp(recording_source_name(recording, i), name) == 0;
	fputs(name, f);
	if (n > 1)
		fprintf(f, "#%u", n);
}

static char *format_name(const struct recording *recording, uint32_t source)
{
	char *name = NULL;
	size_t n_bytes = 0;
	FILE *f = open_memstream(&name, &n_bytes);

	if (!f)
		return NULL;
	write_name(f, recording, source);
	if (fclose(f) == 0)
		return name;
	free(name);
	return NULL;
}

char *load_join_names(const struct recording *recording, int64_t but)
{
	char *names = NULL;
	size_t n_bytes = 0;
	FILE *f = open_memstream(&names, &n_bytes);
	const char *comma = "";
	unsigned int n = 0;

	if (!f)
		return NULL;
	for (uint32_t i = 0; i < recording_n_sources(recording); i++) {
		if (i == but || !samples_anything(recording_attr(recording, i)))
			continue;
		fputs(comma, f);
		if (n++ == MAX_NAMES) {
			fputs("...", f);
			break;
		}
		write_name(f, recording, i);
		comma = ", ";
	}
	if (fclose(f) == 0)
		return names;
	free(names);
	return NULL;
}

/* The source that is the @n-th (from 1) with the name in the first @n_name bytes of @name; or
 * -ENOENT. */
static int64_t find_named(const struct recording *recording, const char *name, size_t n_name,
			  unsigned long n)
{
	for (uint32_t i = 0; i < recording_n_sources(recording); i++) {
		const char *other = recording_source_name(recording, i);

		if (strlen(other) == n_name && memcmp(other, name, n_name) == 0 && --n == 0)
			return i;
	}
	return -ENOENT;
}

static int64_t find_source(const struct recording *recording, const char *event)
{
	const char *number = strrchr(event, '#');
	int64_t source = find_named(recording, event, strlen(event), 1);
	unsigned long n;
	char *end;

	if (source >= 0 || !number || number[1] < '1' || number[1] > '9')
		return source;
	n = strtoul(number + 1, &end, 10);
	return *end ? -ENOENT : find_named(recording, event, (size_t)(number - event), n);
}

static int64_t first_source(const struct recording *recording)
{
	for (uint32_t i = 0; i < recording_n_sources(recording); i++)
		if (samples_anything(recording_attr(recording, i)))
			return i;
	return 0; /* pipe mode: not known yet */
}

int64_t load_choose_source(const struct recording *recording, const char *event,
			   struct fault *fault)
{
	_cleanup_free_ char *names = NULL;
	int64_t source = event ? find_source(recording, event) : first_source(recording);

	if (source != -ENOENT)
		return source;
	names = load_join_names(recording, -1);
	if (!names)
		return -ENOMEM;
	return fault_set(fault, -ENOENT, "no event %s in the recording; choose one of: %s", event,
			 names);
}

struct loading {
	const struct load_settings *settings;
	struct function_finder functions;
	struct recording *recording;
	struct processes *processes;
	struct unwinder *unwinder;
	struct builder *builder;
	uint32_t source;
};

static void show_progress(const struct loading *l)
{
	uint64_t done, all;

	if (!l->settings->progress)
		return;
	recording_progress(l->recording, &done, &all);
	l->settings->progress(done, all, l->settings->userdata);
}

/* In pipe mode the first records describe the events, so the source can be chosen only when one of
 * its samples may be next. */
static int start_counting(struct loading *l, struct fault *fault)
{
	struct builder_settings settings = {
		.duplicate_depth = duplicate_record_depth(recording_info(l->recording)->cpuid),
		.unbounded = true,
		.max_rows = MAX_ROWS,
		.max_frames = MAX_FRAMES,
		.rows_ahead = ROWS_AHEAD,
		.tables = l->settings->tables,
		.sum_processes = l->settings->sum_processes,
		.no_stitch = l->settings->no_stitch,
		.stitch.depth = recording_info(l->recording)->depth,
		.stitch.is_wiped = recording_is_wiped(l->recording),
		.stitch.find_function = function_finder_find,
		.stitch.userdata = &l->functions,
	};
	int64_t source = load_choose_source(l->recording, l->settings->event, fault);

	if (source < 0)
		return (int)source;
	settings.source = l->source = (uint32_t)source;
	if (l->settings->unwind.get_table &&
	    unwinder_new(&l->unwinder, &l->settings->unwind,
			 recording_info(l->recording)->machine) < 0)
		return -ENOMEM;
	settings.unwinder = l->unwinder;
	return builder_new(&l->builder, &settings);
}

static int count_event(struct loading *l, const struct event *e, struct fault *fault)
{
	int r;

	if (e->kind == EVENT_SAMPLE || e->kind == EVENT_LOST || e->kind == EVENT_THROTTLE) {
		r = l->builder ? 0 : start_counting(l, fault);
		return r < 0 ? r : builder_add(l->builder, l->processes, e);
	}
	if (l->builder)
		builder_observe(l->builder, e);
	return processes_apply(l->processes, e);
}

static int count_all(struct loading *l, struct fault *fault)
{
	struct event event;
	int r;

	for (uint64_t n = 0;; n++) {
		if (n % PROGRESS_EVERY == 0)
			show_progress(l);
		r = recording_next(l->recording, &event, fault);
		if (r < 0)
			return r;
		if (r == 0)
			break;
		r = count_event(l, &event, fault);
		if (r < 0)
			return r;
	}
	show_progress(l);
	return l->builder ? 0 : start_counting(l, fault);
}

static int fill_event(const struct loading *l, struct profile *profile)
{
	_cleanup_free_ char *name = NULL;
	int r = 0;

	if (l->source >= recording_n_sources(l->recording))
		return 0;
	name = format_name(l->recording, l->source);
	if (!name)
		return -ENOMEM;
	profile->info.event = profile_string(profile, name, &r);
	return r;
}

static int fill_info(const struct loading *l, struct profile *profile)
{
	const struct recording_info *info = recording_info(l->recording);
	struct profile_info *to = &profile->info;
	int r = fill_event(l, profile);

	to->mode = profile_string(profile, "recording", &r);
	to->hostname = profile_string(profile, info->hostname, &r);
	to->os_release = profile_string(profile, info->os_release, &r);
	to->cpu = profile_string(profile, info->cpu, &r);
	to->n_cpus = info->n_cpus;
	to->depth = info->depth;
	profile->counters.out_of_order = recording_n_out_of_order(l->recording);
	profile->counters.records_unknown = recording_n_unknown(l->recording);
	return r;
}

static int load(struct loading *l, struct profile **ret, struct recording_damage *ret_damage,
		char **ret_others, struct fault *fault)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	const struct recording_damage *damage;
	char *others;
	int r;

	r = count_all(l, fault);
	if (r < 0)
		return r;
	r = builder_close(l->builder, l->processes, &profile);
	if (r < 0)
		return r;
	r = fill_info(l, profile);
	if (r >= 0)
		r = profile_unite(profile);
	if (r < 0)
		return r;
	others = load_join_names(l->recording, l->source);
	if (!others)
		return -ENOMEM;

	damage = recording_forced(l->recording);
	*ret_damage = damage ? *damage : (struct recording_damage){ 0 };
	if (others[0] == '\0')
		free(TAKE_PTR(others));
	*ret_others = others;
	*ret = TAKE_PTR(profile);
	return 0;
}

int load_profile(struct profile **ret, const char *path, const struct load_settings *settings,
		 struct recording_damage *ret_damage, char **ret_others, struct fault *fault)
{
	_cleanup_(recording_freep) struct recording *recording = NULL;
	_cleanup_(processes_freep) struct processes *processes = NULL;
	struct loading l = { .settings = settings };
	int r;

	fault->text[0] = '\0';
	r = recording_open(&recording, path, settings->force, fault);
	if (r >= 0)
		r = processes_new(&processes);
	l.recording = recording;
	l.processes = processes;
	l.functions = (struct function_finder){
		.processes = processes,
		.find = settings->find_function,
		.userdata = settings->functions,
	};
	if (r >= 0)
		r = load(&l, ret, ret_damage, ret_others, fault);
	/* Before the recording is closed: its thread may still count records of it. */
	builder_free(l.builder);
	unwinder_free(l.unwinder);
	if (r < 0 && !fault->text[0])
		fault_set(fault, r, "%s: %s", path, strerror(-r));
	return r;
}
