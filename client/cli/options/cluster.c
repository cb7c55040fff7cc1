/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cli/options/cluster.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cli/options/table.h"
#include "client/cli/options/value.h"
#include "client/rpc/connection.h"
#include "common/profile/patterns.h"

#define MIN_BUILD_ID 4 /* digits */

static int set_url(struct options *options, const char *url, struct fault *fault)
{
	bool known = strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;

	if (strchr(url, '@'))
		return fault_set(fault, -EINVAL,
				 "--cluster: leave the password out: ~/.netrc has user and "
				 "password of a host");
	if (!known || strpbrk(url, "?# ") || !strstr(url, "://")[3])
		return options_wrong(fault, "--cluster", url, "one such as https://host:8443/");
	options->cluster.url = url;
	return 0;
}

static int add_hosts(struct options *options, const char *argument, struct fault *fault)
{
	char *list = options->cluster_hosts, *both;

	if (!*argument || strlen(argument) + (list ? strlen(list) : 0) >= PATTERNS_MAX)
		return options_wrong(fault, "--host", argument,
				     "the name of a host, or a pattern such as 'web-*'");
	if (asprintf(&both, "%s%s%s", list ?: "", list ? "," : "", argument) < 0)
		return fault_set(fault, -ENOMEM, "out of memory");
	free(list);
	options->cluster.hosts = options->cluster_hosts = both;
	return 0;
}

/* Of a list each must be long enough to mean one build. */
static int add_build(struct options *options, const char *list, struct fault *fault)
{
	const char *at = list;

	do {
		size_t n = strspn(at, "0123456789abcdef");

		if (n < MIN_BUILD_ID || (at[n] && at[n] != ',') || n > 2 * PROFILE_BUILD_ID_MAX)
			return options_wrong(fault, "--build-id", list,
					     "the first digits of a build-id, as file(1) and "
					     "top --json show it");
		at += n + (at[n] == ',');
	} while (*at);
	if (options->n_build_ids == OPTIONS_MAX_BUILDS)
		return fault_set(fault, -EINVAL,
				 "--build-id: at most two, of the old and the new "
				 "side");
	options->build_ids[options->n_build_ids++] = list;
	return 0;
}

int options_cluster_apply(struct options *options, int key, const char *argument,
			  struct fault *fault)
{
	switch (key) {
	case KEY_CLUSTER:
		return set_url(options, argument, fault);
	case KEY_OF_HOST:
		return add_hosts(options, argument, fault);
	case KEY_BUILD_ID:
		return add_build(options, argument, fault);
	}
	return -ENOENT;
}

int options_cluster_min_operands(const struct options *options, int usual)
{
	return options->command == COMMAND_DIFF && options->n_build_ids == 2 ? 0 : usual;
}

enum cluster_by options_cluster_by(enum view_by by)
{
	return by == VIEW_UNIT ? CLUSTER_BY_UNIT :
	       by == VIEW_HOST ? CLUSTER_BY_HOST :
				 CLUSTER_BY_FUNCTION;
}

static int check_views(const struct options *options, const char *by, bool twice,
		       struct fault *fault)
{
	bool is_diff = options->command == COMMAND_DIFF;

	for (size_t i = 0; i < options->n_views; i++)
		if (options->views[i] != VIEW_FUNCTION && options->views[i] != VIEW_UNIT &&
		    (is_diff || options->views[i] != VIEW_HOST))
			return options_wrong(fault, "--cluster: --by", by,
					     is_diff ? "function or unit" :
						       "function, unit or host");
	if (twice || options->n_views > 1)
		return fault_set(fault, -EINVAL, "--cluster takes one --by");
	return 0;
}

/* What the servers do not have, or what is another source. */
static int check_others(const struct options *options, struct fault *fault)
{
	const struct profile_source_settings *source = &options->source;
	const struct profile_filter *filter = &source->filter;
	const char *option = strcmp(source->socket, CONNECTION_DEFAULT_PATH) != 0 ? "--socket" :
			     options->n_hosts > 0                                 ? "-H" :
			     options->host_list                                   ? "--host-list" :
			     options->every_us > 0                                ? "--every" :
			     options->find_change      ? "--find-change" :
			     options->before           ? "--before" :
			     options->top.inlined      ? "--inline" :
			     options->top.mispredicted ? "--mispredicted" :
			     filter->pid               ? "--pid" :
			     filter->uid               ? "--uid" :
			     filter->comm              ? "--comm" :
			     filter->exclude_comm      ? "--exclude-comm" :
			     filter->container         ? "--container" :
							 NULL;

	if (option)
		return fault_set(fault, -EINVAL, "--cluster takes no %s", option);
	if ((filter->object || filter->symbol) && options->top.by != VIEW_FUNCTION)
		return fault_set(fault, -EINVAL,
				 "--cluster takes --object and --symbol only with --by function");
	return 0;
}

static int check_without(const struct options *options, struct fault *fault)
{

	for (size_t i = 0; i < options->n_views; i++)
		if (options->views[i] == VIEW_HOST)
			return fault_set(fault, -EINVAL, "--by host works only with --cluster");
	if (options->cluster.hosts || options->n_build_ids > 0)
		return fault_set(fault, -EINVAL, "%s works only with --cluster%s",
				 options->cluster.hosts ? "--host" : "--build-id",
				 options->cluster.hosts ? "; another machine is -H HOST" : "");
	return 0;
}

/* Of diff: functions, where it says nothing else; one WINDOW is that of both builds. */
static void set_sides(struct options *options)
{
	if (!options->by_given) {
		options->by_given = true;
		options->views[0] = VIEW_FUNCTION;
		options->n_views = 1;
	}
	if (!options->new_window)
		options->new_window = options->source.window;
}

int options_cluster_check(struct options *options, const char *by, bool twice, struct fault *fault)
{
	int r;

	if (!options->cluster.url)
		return check_without(options, fault);
	if (options->n_build_ids > 1 && options->command != COMMAND_DIFF)
		return fault_set(fault, -EINVAL,
				 "--build-id: several builds have commas between them; twice is "
				 "for diff");
	r = check_views(options, by, twice, fault);
	r = r < 0 ? r : check_others(options, fault);
	if (r < 0)
		return r;
	if (options->n_build_ids == 1)
		options->cluster.build_id = options->build_ids[0];
	if (options->command == COMMAND_DIFF)
		set_sides(options);
	return 0;
}

void options_cluster_done(struct options *options)
{
	free(options->cluster_hosts);
}
