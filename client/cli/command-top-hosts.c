/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* top --host-list: the sum of many hosts, and which of them it lacks. */
#include <errno.h>
#include <string.h>

#include "client/cli/commands.h"
#include "client/cli/options/counts.h"
#include "client/render/hosts.h"
#include "client/render/top-json.h"
#include "client/render/top-table.h"
#include "client/source/many-hosts.h"
#include "client/term/output.h"
#include "client/top/top-order.h"
#include "client/top/top.h"
#include "common/util/cleanup.h"

#define DEFAULT_TIMEOUT_US 30000000

static int open_hosts(struct profile_source **ret, const struct options *options,
		      struct fault *fault)
{
	_cleanup_(host_list_done) struct host_list hosts = {};
	struct many_hosts_settings settings = {
		.source = options->source,
		.hosts = &hosts,
		.timeout_us = options->host_timeout_us ?: DEFAULT_TIMEOUT_US,
	};
	int r = host_list_read(&hosts, options->host_list, fault);

	if (r < 0)
		return r;
	settings.source.tables = options_top_tables(options);
	return many_hosts_open(ret, &settings, fault);
}

static int write_top(const struct top *top, const struct options *options, struct output *output)
{
	int r;

	if (options->json)
		return top_write_json(top, output->f);
	r = top_write_table(top, output);
	return r < 0 ? r : hosts_write_table(top->source, options->top.n_rows, output);
}

int command_top_hosts(const struct options *options, struct fault *fault)
{
	_cleanup_(profile_source_freep) struct profile_source *source = NULL;
	_cleanup_(top_freep) struct top *top = NULL;
	struct top_settings settings = options->top;
	struct output output;
	int r;

	r = open_hosts(&source, options, fault);
	if (r < 0)
		return r;
	settings.every_frame = options->json;
	settings.grouped = !options->json;
	r = top_new(&top, source, &settings);
	if (r < 0)
		return fault_set(fault, r, "%s: %s", source->name, strerror(-r));
	if (options->order > 0)
		top_sort(top, options->order);
	profile_source_say(source, stderr);
	hosts_say(source, stderr);
	top_say(top, stderr);
	output_open(&output, &options->output);
	r = write_top(top, options, &output);
	if (output_close(&output, fault) < 0)
		return -EIO;
	if (r < 0)
		return fault_set(fault, r, "%s: %s", source->name, strerror(-r));
	if (profile_source_n_answered(source) < source->n_hosts)
		return COMMAND_MISSED_HOSTS;
	return profile_source_has_match(source) ? 0 : COMMAND_FOUND_NOTHING;
}
