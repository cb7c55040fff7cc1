/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cluster/cluster-source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/source/time-spec.h"
#include "client/term/text.h"
#include "common/profile/filter.h"
#include "common/profile/patterns.h"
#include "common/util/cleanup.h"

void cluster_scope_done(struct cluster_scope *scope)
{
	cluster_names_done(&scope->hosts);
	cluster_names_done(&scope->units);
	cluster_free(scope->cluster);
}

static bool fits(const char *pattern, const void *name)
{
	return pattern_matches(pattern, name);
}

static bool host_is_in(const char *name, const char *list)
{
	return patterns_any(list, fits, name);
}

static bool unit_is_in(const char *name, const char *list)
{
	const struct profile_process process = { .unit = *name ? name : NULL };

	return profile_process_matches(&process, &(struct profile_filter){ .unit = list });
}

static int find_hosts(struct cluster_scope *scope, const char *list, struct fault *fault)
{
	_cleanup_free_ char *sql = list ? cluster_sql_host_names(&scope->where) : NULL;
	const struct cluster_names_wanted wanted = { "host", list, sql, host_is_in };

	if (!list)
		return 0;
	scope->where.hosts = &scope->hosts;
	return cluster_names_find(&scope->hosts, scope->cluster, &wanted, fault);
}

static int find_units(struct cluster_scope *scope, const char *list, struct fault *fault)
{
	_cleanup_free_ char *sql = list ? cluster_sql_unit_names(&scope->where) : NULL;
	const struct cluster_names_wanted wanted = { "unit", list, sql, unit_is_in };

	if (!list)
		return 0;
	scope->where.units = &scope->units;
	return cluster_names_find(&scope->units, scope->cluster, &wanted, fault);
}

int cluster_scope_open(struct cluster_scope *ret, const struct cluster_source_settings *settings,
		       struct fault *fault)
{
	int r;

	*ret = (struct cluster_scope){
		.where = { .coarsest = CLUSTER_DAY,
			   .build_id = settings->cluster.build_id,
			   .without_build_id = settings->cluster.without_build_id },
	};
	r = cluster_span_of(&ret->where.span, &settings->source, fault);
	r = r < 0 ? r : cluster_open(&ret->cluster, settings->cluster.url, fault);
	if (r < 0)
		return r;
	ret->where.all_servers = cluster_has_all(ret->cluster);
	r = find_hosts(ret, settings->cluster.hosts, fault);
	return r < 0 ? r : find_units(ret, settings->source.filter.unit, fault);
}

/* "200 hosts, 2026-11-25 10:00:00 to 11:00:00, build 1234" */
static char *format_name(const struct cluster_source_settings *settings,
			 const struct cluster_hosts *hosts, struct cluster_time span)
{
	uint64_t now_us = settings->source.now_us;
	char start[TIME_SPEC_TEXT_MAX], end[TIME_SPEC_TEXT_MAX];
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return NULL;
	fprintf(f, "%zu host%s, %s to %s", hosts->n, text_plural(hosts->n),
		time_spec_format(start, span.start * 1000000, now_us),
		time_spec_format(end, MIN(span.end * 1000000, now_us), now_us));
	if (settings->cluster.build_id)
		fprintf(f, ", build %s", settings->cluster.build_id);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

/* What 100 percent is: the rows that filters of places leave out, too. */
static int set_totals(struct profile_source *source, const struct cluster_hosts *hosts)
{
	const struct profile_source_part *parts = source->parts;
	struct profile *all;
	int r = profile_new(&source->processes);

	if (r < 0)
		return r;
	all = source->processes;
	all->info.event = profile_string(all, hosts->event, &r);
	for (size_t i = 0; i < source->n_parts; i++)
		all->counters.samples += parts[i].samples;
	all->counters.lost_samples = source->profile->counters.lost_samples = hosts->lost;
	source->all = all;
	return r;
}

/* All parts, also a single one: its samples are those of all rows. */
static int set_parts(struct profile_source *source)
{
	size_t n = source->functions->n_parts;

	source->parts = calloc(n + 1, sizeof(*source->parts));
	if (!source->parts)
		return -ENOMEM;
	source->n_parts = n;
	for (size_t i = 0; i < n; i++)
		source->parts[i].samples = source->functions->parts[i].samples;
	return 0;
}

static int fill(struct profile_source *source, const struct cluster_source_settings *settings,
		struct cluster_hosts *hosts, struct cluster_time span)
{
	const struct profile_filter *filter = &settings->source.filter;
	int r;

	source->name = format_name(settings, hosts, span);
	source->profile = source->functions->profile;
	r = source->name ? set_parts(source) : -ENOMEM;
	r = r < 0 ? r : set_totals(source, hosts);
	if (r < 0)
		return r;
	source->shown = source->profile;
	source->by_process = filter->unit;
	source->filtered = filter->unit || filter->object || filter->symbol;
	source->hosts = TAKE_PTR(hosts->rows);
	source->n_hosts = hosts->n;
	hosts->n = 0;
	return 0;
}

static int load(struct profile_source *source, const struct cluster_source_settings *settings,
		struct cluster_scope *scope, struct fault *fault)
{
	_cleanup_(cluster_hosts_done) struct cluster_hosts hosts = {};
	const struct profile_filter *filter = &settings->source.filter;
	const struct cluster_question question = {
		.where = scope->where,
		.by = settings->by,
		.parts = settings->by_host ? CLUSTER_PART_HOST : CLUSTER_WHOLE,
	};
	const struct cluster_counts_settings counts = {
		.question = &question,
		.hosts = &hosts,
		.object = filter->object,
		.symbol = filter->symbol,
	};
	int r = cluster_hosts_load(&hosts, scope->cluster, &scope->where, fault);

	if (r < 0)
		return r;
	if (hosts.n == 0)
		return fault_set(fault, -ENOENT, "%s: no host has sent windows of that time%s",
				 settings->cluster.url,
				 settings->cluster.build_id ? " in which that build ran" : "");
	r = cluster_counts_load(&source->functions, scope->cluster, &counts, fault);
	if (r < 0)
		return r;
	r = fill(source, settings, &hosts, scope->where.span);
	return r < 0 ? fault_set(fault, r, "out of memory") : 0;
}

int cluster_source_open(struct profile_source **ret, const struct cluster_source_settings *settings,
			struct fault *fault)
{
	_cleanup_(profile_source_freep) struct profile_source *source = NULL;
	_cleanup_(cluster_scope_done) struct cluster_scope scope = {};
	int r = profile_source_new(&source, &settings->source.symbols);

	if (r < 0)
		return fault_set(fault, r, "%s", strerror(-r));
	r = cluster_scope_open(&scope, settings, fault);
	r = r < 0 ? r : load(source, settings, &scope, fault);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(source);
	return 0;
}

void cluster_source_say(const struct profile_source *source, FILE *f)
{
	if (!profile_source_has_match(source))
		text_say(f,
			 "%s: nothing matches the filters; without --object and --symbol it is "
			 "all that there is",
			 source->name);
}
