/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/metrics/metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/metrics/families.h"
#include "common/util/cleanup.h"

#define MAX_NAME 200 /* bytes of a label; C++ has names without end */

/* The member @path, as in "store.bytes". NULL: the daemon does not say. */
static const json_t *find_member(const json_t *status, const char *path)
{
	while (status && *path) {
		size_t n = strcspn(path, ".");
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)n, path);
		status = json_object_get(status, name);
		path += n + (path[n] == '.');
	}
	return json_is_number(status) || json_is_boolean(status) ? status : NULL;
}

/* Whole numbers have all their digits. */
static void write_value(FILE *f, const json_t *value, double divisor)
{
	if (json_is_boolean(value))
		fprintf(f, " %d\n", json_is_true(value));
	else if (json_is_integer(value) && divisor == 0)
		fprintf(f, " %" JSON_INTEGER_FORMAT "\n", json_integer_value(value));
	else
		fprintf(f, " %.15g\n", json_number_value(value) / (divisor ?: 1));
}

static int write_series(const struct family *family, const struct family_series *series,
			const json_t *value, FILE *f)
{
	int r = 0;

	metric_write_name(f, family->name, family->type);
	if (family->label) {
		fputc('{', f);
		r = metric_write_label(f, family->label, series->value);
		fputc('}', f);
	}
	write_value(f, value, family->divisor);
	return r;
}

static int write_family(const struct metrics_input *input, const struct family *family, FILE *f)
{
	const struct metric_head head = { family->name, family->unit, family->help, family->type };
	bool begun = false;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < FAMILY_MAX_SERIES && family->series[i].path; i++) {
		const json_t *value = find_member(input->status, family->series[i].path);

		if (!value)
			continue;
		if (!begun)
			metric_write_head(f, input->format, &head);
		begun = true;
		r = write_series(family, &family->series[i], value, f);
	}
	return r;
}

static void write_number(const struct metrics_input *input, const struct metric_head *head,
			 double value, FILE *f)
{
	metric_write_head(f, input->format, head);
	fprintf(f, "%s %.15g\n", head->name, value);
}

/* How old the newest window in the database is. */
static void write_lag(const struct metrics_input *input, FILE *f)
{
	const json_t *now = json_object_get(input->status, "now_us"),
		     *last = find_member(input->status, "store.last_us");

	if (last && json_is_integer(now))
		write_number(input,
			     &(struct metric_head){
				     .name = "branchd_store_lag_seconds",
				     .unit = "seconds",
				     .help = "Time since the end of the newest window there",
			     },
			     (json_number_value(now) - json_number_value(last)) / 1e6, f);
}

static int write_info(const struct metrics_input *input, FILE *f)
{
	const json_t *sampling = json_object_get(input->status, "sampling");
	const struct {
		const char *label;
		const json_t *value;
	} labels[] = {
		{ "version", json_object_get(input->status, "version") },
		{ "mode", json_object_get(sampling, "mode") },
		{ "event", json_object_get(sampling, "event") },
	};
	int r = 0;

	metric_write_head(f, input->format,
			  &(struct metric_head){
				  .name = "branchd_build_info",
				  .help = "Always 1: the version, and what it samples",
			  });
	fputs("branchd_build_info{", f);
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(labels); i++) {
		fputs(i > 0 ? "," : "", f);
		r = metric_write_label(f, labels[i].label,
				       json_string_value(labels[i].value) ?: "");
	}
	fputs("} 1\n", f);
	return r;
}

/* The labels of a function, which must differ from all others': two of one name are added up. */
struct hot {
	char object[MAX_NAME + 1], symbol[MAX_NAME + 1];
	uint64_t self;
};

/* Cuts it before a character that does not fit. */
static void copy_name(char ret[MAX_NAME + 1], const char *name)
{
	size_t n = strnlen(name, MAX_NAME + 1);

	if (n > MAX_NAME)
		for (n = MAX_NAME; n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80; n--)
			;
	memcpy(ret, name, n);
	ret[n] = '\0';
}

static struct hot *find_hot(struct hot *hot, size_t n, const struct hot *wanted)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(hot[i].object, wanted->object) == 0 &&
		    strcmp(hot[i].symbol, wanted->symbol) == 0)
			return &hot[i];
	return NULL;
}

static size_t collect_hot(const struct metrics_input *input, struct hot *hot)
{
	const struct shares *shares = input->top->shares;
	const struct profile *profile = input->top->source->shown;
	size_t n = 0;

	for (size_t i = 0; i < shares->n_rows; i++) {
		const struct share *share = &shares->rows[i];
		struct hot row = { .self = share->self }, *same;

		copy_name(row.object, share->key.object == PROFILE_NONE ?
					      "[unknown]" :
					      profile->objects[share->key.object].path);
		copy_name(row.symbol, share->key.symbol ?: "[unknown]");
		same = find_hot(hot, n, &row);
		if (same)
			same->self += row.self;
		else if (n < input->n_functions && row.self > 0)
			hot[n++] = row;
	}
	return n;
}

static int write_functions(const struct metrics_input *input, FILE *f)
{
	static const struct metric_head head = {
		.name = "branchd_function_share_ratio",
		.unit = "ratio",
		.help = "Share of the samples of the last five minutes, of the hottest functions",
	};
	uint64_t all = input->top->source->all->counters.samples;
	_cleanup_free_ struct hot *hot = calloc(input->n_functions + 1, sizeof(*hot));
	size_t n;
	int r = 0;

	if (!hot)
		return -ENOMEM;
	n = all > 0 ? collect_hot(input, hot) : 0;
	if (n > 0)
		metric_write_head(f, input->format, &head);
	for (size_t i = 0; r >= 0 && i < n; i++) {
		fprintf(f, "%s{", head.name);
		r = metric_write_label(f, "object", hot[i].object);
		fputc(',', f);
		r = r < 0 ? r : metric_write_label(f, "function", hot[i].symbol);
		fprintf(f, "} %.9g\n", (double)hot[i].self / (double)all);
	}
	return r;
}

static int write_status(const struct metrics_input *input, FILE *f)
{
	int r = write_info(input, f);

	for (size_t i = 0; r >= 0 && i < n_families; i++)
		r = write_family(input, &families[i], f);
	write_lag(input, f);
	write_number(input,
		     &(struct metric_head){
			     .name = "branchd_problems",
			     .help = "What branchctl status lists as problems",
		     },
		     (double)json_array_size(json_object_get(input->status, "problems")), f);
	return r;
}

int metrics_write(const struct metrics_input *input, FILE *f)
{
	int r = 0;

	write_number(input,
		     &(struct metric_head){
			     .name = "branchd_up",
			     .help = "Whether the daemon answers",
		     },
		     input->status ? 1 : 0, f);
	if (input->status)
		r = write_status(input, f);
	if (r >= 0 && input->top && input->n_functions > 0)
		r = write_functions(input, f);
	if (input->format == METRICS_OPENMETRICS)
		fputs("# EOF\n", f);
	return r;
}
