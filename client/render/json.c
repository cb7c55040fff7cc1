/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/render/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "client/view/counters.h"
#include "client/view/missing.h"
#include "common/profile/other.h"
#include "common/util/cleanup.h"

json_t *json_address(uint64_t address)
{
	return json_sprintf("0x%" PRIx64, address);
}

json_t *json_build_id(const struct profile_object *object)
{
	char hex[2 * PROFILE_BUILD_ID_MAX + 1] = "";

	if (!object || object->n_build_id == 0)
		return json_null();
	for (size_t i = 0; i < object->n_build_id; i++)
		snprintf(hex + 2 * i, 3, "%02x", object->build_id[i]);
	return json_string(hex);
}

json_t *json_line(const char *file, uint32_t line)
{
	_cleanup_free_ char *text = NULL;

	if (!file)
		return json_null();
	if (asprintf(&text, "%s:%" PRIu32, file, line) < 0) {
		text = NULL;
		return NULL;
	}
	return json_text(text);
}

json_t *json_place(const struct place *place)
{
	const struct profile_function *function = place->function;
	const char *path = place->object && place->object->path[0] ? place->object->path : NULL;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "object", json_text(path),
			 "build_id", json_build_id(place->object), "file_offset",
			 place_has_file_offset(place) ? json_address(place->offset) : json_null(),
			 "address", place->has_address ? json_address(place->address) : json_null(),
			 "symbol", json_text(function ? function->name : NULL), "symbol_offset",
			 function ? json_integer((json_int_t)(place->offset - function->start)) :
				    json_null(),
			 "line", json_line(place->file, place->line));
}

static json_t *json_count_of(uint64_t count, bool known)
{
	return known ? json_integer((json_int_t)count) : json_null();
}

json_t *json_window(const struct window_info *window, bool read)
{
	bool known = !window->open || (read && window->samples > 0);

	return json_pack("{s:o, s:b, s:f, s:f, s:o, s:o, s:o}", "id",
			 window->id > 0 ? json_integer(window->id) : json_null(), "open",
			 window->open, "start", (double)window->start_us / 1e6, "length",
			 (double)window->length_us / 1e6, "samples",
			 json_count_of(window->samples, known), "lost",
			 json_count_of(window->lost, known), "mode", json_text(window->mode));
}

/* Windows of one of many hosts. */
static void add_windows(json_t *list, const struct windows *windows, const char *host)
{
	for (size_t i = 0; i < windows->n; i++) {
		json_t *window = json_window(&windows->rows[i], true);

		if (host)
			json_object_set_new(window, "host", json_text(host));
		json_array_append_new(list, window);
	}
}

static json_t *json_recording(const struct profile_source *source)
{
	const struct profile *profile = source->all;
	const struct profile_info *info = &profile->info;
	double start = (double)info->start_ns / 1e9;
	double length = (double)(info->end_ns - info->start_ns) / 1e9;

	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:I}", "recording",
			 json_text(source->name), "mode", json_text(info->mode), "event",
			 json_text(info->event), "hostname", json_text(info->hostname), "cpu",
			 json_text(info->cpu), "start",
			 info->start_ns > 0 ? json_real(start) : json_null(), "length", length,
			 "samples", (json_int_t)profile->counters.samples);
}

json_t *json_windows(const struct profile_source *source)
{
	json_t *list = json_array();

	if (source->is_recording)
		json_array_append_new(list, json_recording(source));
	add_windows(list, &source->windows, NULL);
	for (size_t i = 0; i < source->n_hosts; i++)
		add_windows(list, &source->hosts[i].windows, source->hosts[i].name);
	return list;
}

json_t *json_totals(const struct profile_source *source)
{
	const struct profile_counters *counters = &source->all->counters;
	const struct other_sums others = other_sum_up(source->all);
	struct missing missing = missing_of(source);
	json_t *totals = json_object();

	for (size_t i = 0; i < N_COUNTERS; i++) {
		struct counter counter = counters_get(counters, i);

		json_object_set_new(totals, counter.name, json_integer((json_int_t)counter.value));
	}
	json_object_set_new(totals, "rows_others", json_integer((json_int_t)others.taken));
	json_object_set_new(totals, "runs_others", json_integer((json_int_t)others.runs));
	json_object_set_new(totals, "streams_others", json_integer((json_int_t)others.hits));
	json_object_set_new(totals, "lost", json_integer((json_int_t)counters_lost(counters)));
	json_object_set_new(totals, "lost_percent", json_real(missing.lost_percent));
	json_object_set_new(totals, "sampled", json_real((double)missing.sampled_us / 1e6));
	json_object_set_new(totals, "not_sampled",
			    source->is_recording ? json_null() :
						   json_real((double)missing.gaps_us / 1e6));
	json_object_set_new(totals, "removed",
			    source->is_recording ? json_null() :
						   json_real((double)missing.removed_us / 1e6));
	return totals;
}

int json_write(FILE *f, json_t *value, size_t flags)
{
	if (!value)
		return -ENOMEM;
	json_dumpf(value, f, flags);
	json_decref(value);
	return 0;
}
