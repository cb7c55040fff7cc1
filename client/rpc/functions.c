/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/rpc/functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/json-scanner.h"
#include "common/json/profile-json.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

struct reading {
	struct functions *functions;
	struct json_scanner s;
	size_t cap_places, cap_parts;
};

#define TRY(expression)                \
	do {                           \
		int _r = (expression); \
		if (_r < 0)            \
			return _r;     \
	} while (0)

/* A function of the profile, or the rest of an object; by process, that as an object. */
static int read_location(struct reading *reading, struct location *ret, bool *ret_has_offset)
{
	const struct profile *profile = reading->functions->profile;
	bool by_process = reading->functions->by >= FUNCTIONS_BY_PROCESS;
	uint64_t object = PROFILE_NONE;

	TRY(json_scan_token(&reading->s, '['));
	if (!json_scan_null(&reading->s)) {
		TRY(json_scan_count(&reading->s, "object", &object));
		if (object >= (by_process ? profile->n_processes : profile->n_objects))
			return json_scanner_fail(&reading->s, "object", "there is no such object");
	}
	ret->object = (uint32_t)object;
	TRY(json_scan_token(&reading->s, ','));
	*ret_has_offset = !json_scan_null(&reading->s);
	if (*ret_has_offset)
		TRY(json_scan_hex(&reading->s, "offset", &ret->offset));
	return json_scan_token(&reading->s, ']');
}

static int read_place(struct reading *reading, struct functions_place *ret)
{
	const struct profile *profile = reading->functions->profile;
	const struct profile_function *function;
	struct location at = { 0 };
	bool has_offset = false;

	TRY(read_location(reading, &at, &has_offset));
	*ret = (struct functions_place){ PROFILE_NONE, PROFILE_NONE, PROFILE_NONE };
	if (reading->functions->by >= FUNCTIONS_BY_PROCESS) {
		ret->process = at.object;
		return 0;
	}
	ret->object = at.object;
	function = has_offset ? profile_find_function(profile, at) : NULL;
	if (function)
		ret->function = (uint32_t)(function - profile->functions);
	return 0;
}

static int read_places(struct reading *reading)
{
	struct functions *functions = reading->functions;
	int more;

	reading->s.where = "places";
	TRY(json_scan_token(&reading->s, '['));
	while ((more = json_scan_element(&reading->s, functions->n_places == 0)) > 0) {
		TRY(ARRAY_RESERVE(&functions->places, &reading->cap_places,
				  functions->n_places + 1));
		TRY(read_place(reading, &functions->places[functions->n_places]));
		functions->n_places++;
	}
	TRY(more);
	return json_scan_end(&reading->s);
}

static int read_row(struct reading *reading, struct functions_row *ret)
{
	uint64_t *const numbers[] = {
		&ret->place, &ret->self,       &ret->total,  &ret->calls,
		&ret->runs,  &ret->timed_runs, &ret->cycles,
	};
	int more;

	TRY(json_scan_token(&reading->s, '['));
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (i > 0)
			TRY(json_scan_token(&reading->s, ','));
		TRY(json_scan_count(&reading->s, "rows", numbers[i]));
	}
	more = json_scan_element(&reading->s, false);
	TRY(more);
	ret->variance = 0;
	if (more > 0) {
		TRY(json_scan_count(&reading->s, "variance", &ret->variance));
		TRY(json_scan_token(&reading->s, ']'));
	}
	if (ret->place >= reading->functions->n_places)
		return json_scanner_fail(&reading->s, "rows", "there is no such place");
	return 0;
}

static int read_rows(struct reading *reading, struct functions_part *part)
{
	bool is_first = true;
	int more;

	TRY(json_scan_token(&reading->s, '['));
	while ((more = json_scan_element(&reading->s, is_first)) > 0) {
		TRY(ARRAY_RESERVE(&part->rows, &part->cap_rows, part->n_rows + 1));
		TRY(read_row(reading, &part->rows[part->n_rows]));
		part->n_rows++;
		is_first = false;
	}
	return more;
}

static int read_part(struct reading *reading, struct functions_part *part)
{
	char name[JSON_NAME_MAX];
	bool is_first = true;
	int more;

	TRY(json_scan_token(&reading->s, '{'));
	while ((more = json_scan_member(&reading->s, is_first, name)) > 0) {
		if (strcmp(name, "samples") == 0)
			TRY(json_scan_count(&reading->s, name, &part->samples));
		else if (strcmp(name, "rows") == 0)
			TRY(read_rows(reading, part));
		else
			return json_scanner_fail(&reading->s, name, "unknown member");
		is_first = false;
	}
	return more;
}

static int read_parts(struct reading *reading)
{
	struct functions *functions = reading->functions;
	int more;

	reading->s.where = "parts";
	TRY(json_scan_token(&reading->s, '['));
	while ((more = json_scan_element(&reading->s, functions->n_parts == 0)) > 0) {
		TRY(ARRAY_RESERVE(&functions->parts, &reading->cap_parts, functions->n_parts + 1));
		functions->parts[functions->n_parts] = (struct functions_part){};
		functions->n_parts++;
		TRY(read_part(reading, &functions->parts[functions->n_parts - 1]));
	}
	TRY(more);
	return json_scan_end(&reading->s);
}

static void scan(struct reading *reading, const char *text, size_t n_bytes)
{
	reading->s.text = text;
	reading->s.n_bytes = n_bytes;
	reading->s.at = 0;
}

static int read_all(struct reading *reading, const struct functions_texts *texts,
		    struct fault *fault)
{
	struct functions *functions = reading->functions;

	functions->by = texts->by;
	TRY(profile_json_read(&functions->profile, texts->profile, texts->n_profile, fault));
	scan(reading, texts->places, texts->n_places);
	TRY(read_places(reading));
	scan(reading, texts->parts, texts->n_parts);
	return read_parts(reading);
}

int functions_read(struct functions **ret, const struct functions_texts *texts, struct fault *fault)
{
	_cleanup_(functions_freep) struct functions *functions = calloc(1, sizeof(*functions));
	struct reading reading = {
		.functions = functions,
		.s = { .fault = fault, .row = SIZE_MAX },
	};
	int r = functions ? read_all(&reading, texts, fault) : -ENOMEM;

	if (r < 0)
		return r;
	*ret = TAKE_PTR(functions);
	return 0;
}

struct functions *functions_free(struct functions *functions)
{
	if (!functions)
		return NULL;
	for (size_t i = 0; i < functions->n_parts; i++)
		free(functions->parts[i].rows);
	free(functions->parts);
	free(functions->places);
	profile_free(functions->profile);
	free(functions);
	return NULL;
}
