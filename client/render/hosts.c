/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/hosts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "client/render/json.h"
#include "client/render/table.h"
#include "client/term/text.h"
#include "common/util/cleanup.h"

void hosts_say(const struct profile_source *source, FILE *f)
{
	for (size_t i = 0; i < source->n_hosts; i++)
		if (!source->hosts[i].answered)
			text_say(f, "%s", source->hosts[i].fault.text);
}

static int compare(const void *p, const void *q)
{
	const struct profile_source_host *const *a = p, *const *b = q;

	if ((*a)->took_us != (*b)->took_us)
		return (*a)->took_us > (*b)->took_us ? -1 : 1;
	return *a < *b ? -1 : 1;
}

static int add_row(struct table *table, const struct profile_source_host *host)
{
	int r = table_add_row(table);

	r = r < 0 ? r : table_set(table, 0, host->name);
	r = r < 0 ? r : table_printf(table, 1, "%.2f s", (double)host->took_us / 1e6);
	r = r < 0 ? r : table_printf(table, 2, "%" PRIu64, windows_samples(&host->windows));
	r = r < 0 ? r : table_printf(table, 3, "%" PRIu64, windows_lost(&host->windows));
	return r < 0 ? r : table_printf(table, 4, "%zu", host->windows.n);
}

static int fill(struct table *table, const struct profile_source_host *const *hosts, size_t n)
{
	int r = table_add_column(table, "host", TABLE_ELIDE_NAME);

	r = r < 0 ? r : table_add_column(table, "took", TABLE_RIGHT);
	r = r < 0 ? r : table_add_column(table, "samples", TABLE_RIGHT);
	r = r < 0 ? r : table_add_column(table, "lost", TABLE_RIGHT);
	r = r < 0 ? r : table_add_column(table, "windows", TABLE_RIGHT);
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = add_row(table, hosts[i]);
	return r;
}

int hosts_write_table(const struct profile_source *source, size_t n_rows, struct output *output)
{
	_cleanup_free_ const struct profile_source_host **hosts =
		calloc(source->n_hosts, sizeof(*hosts));
	_cleanup_(table_freep) struct table *table = NULL;
	size_t n = 0, n_shown;
	int r;

	if (!hosts)
		return -ENOMEM;
	for (size_t i = 0; i < source->n_hosts; i++)
		if (source->hosts[i].answered)
			hosts[n++] = &source->hosts[i];
	qsort(hosts, n, sizeof(*hosts), compare);
	n_shown = n_rows > 0 ? MIN(n, n_rows) : n;
	r = table_new(&table, output->f, output->width, output->colors);
	r = r < 0 ? r : fill(table, hosts, n_shown);
	if (r < 0)
		return r;
	fputc('\n', output->f);
	r = table_print(table);
	if (n > n_shown)
		fprintf(output->f, "... %zu faster hosts, -n 0 shows all\n", n - n_shown);
	return r;
}

static json_t *json_host(const struct profile_source_host *host)
{
	const char *error = host->answered ? NULL : host->fault.text;
	json_t *samples = host->answered ?
				  json_integer((json_int_t)windows_samples(&host->windows)) :
				  json_null();

	return json_pack("{s:o, s:b, s:o, s:f, s:o}", "host", json_text(host->name), "answered",
			 host->answered, "error", json_text(error), "took",
			 (double)host->took_us / 1e6, "samples", samples);
}

json_t *json_hosts(const struct profile_source *source)
{
	json_t *list = json_array();

	for (size_t i = 0; i < source->n_hosts; i++)
		json_array_append_new(list, json_host(&source->hosts[i]));
	return list;
}
