/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/rpc/functions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/view/share.h"
#include "common/profile/json-scanner.h"
#include "common/profile/profile-json.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

/* What rows of parts name by number. */
struct place {
	size_t row;                              /* of all */
	const struct profile_function *function; /* or NULL */
};

struct reading {
	struct functions *functions;
	struct json_scanner s;
	struct place *places;
	size_t n_places, cap_places, cap_parts;
};

#define TRY(expression)                \
	do {                           \
		int _r = (expression); \
		if (_r < 0)            \
			return _r;     \
	} while (0)

/* A function of the profile, or what of an object is in none. */
static int read_location(struct reading *reading, struct location *ret, bool *ret_named)
{
	const struct profile *profile = reading->functions->profile;
	uint64_t object = PROFILE_NONE;

	TRY(json_scan_token(&reading->s, '['));
	if (!json_scan_null(&reading->s)) {
		TRY(json_scan_count(&reading->s, "object", &object));
		if (object >= profile->n_objects)
			return json_scanner_fail(&reading->s, "object", "there is no such one");
	}
	ret->object = (uint32_t)object;
	TRY(json_scan_token(&reading->s, ','));
	*ret_named = !json_scan_null(&reading->s);
	if (*ret_named)
		TRY(json_scan_hex(&reading->s, "offset", &ret->offset));
	return json_scan_token(&reading->s, ']');
}

static int read_place(struct reading *reading, struct place *ret)
{
	const struct profile *profile = reading->functions->profile;
	struct location at = { 0 };
	struct share_key key;
	int64_t row;
	bool named;

	TRY(read_location(reading, &at, &named));
	key = named ? share_key_of_function(profile, at) :
		      (struct share_key){ .object = at.object };
	row = shares_find(reading->functions->all, &key);
	if (row < 0)
		return (int)row;
	*ret = (struct place){ (size_t)row, named ? profile_find_function(profile, at) : NULL };
	return 0;
}

static int read_places(struct reading *reading)
{
	int more;

	reading->s.where = "places";
	TRY(json_scan_token(&reading->s, '['));
	while ((more = json_scan_element(&reading->s, reading->n_places == 0)) > 0) {
		TRY(ARRAY_RESERVE(&reading->places, &reading->cap_places, reading->n_places + 1));
		TRY(read_place(reading, &reading->places[reading->n_places]));
		reading->n_places++;
	}
	TRY(more);
	return json_scan_end(&reading->s);
}

enum { NUMBER, SELF, TOTAL, CALLS, RUNS, TIMED_RUNS, CYCLES, N_NUMBERS };

static int add_row(struct reading *reading, struct functions_part *part, const uint64_t *numbers)
{
	struct functions *functions = reading->functions;
	const struct place *place;
	struct share *share;

	if (numbers[NUMBER] >= reading->n_places)
		return json_scanner_fail(&reading->s, "rows", "not one of the places");
	place = &reading->places[numbers[NUMBER]];
	share = &functions->all->rows[place->row];
	share->self += numbers[SELF];
	share->total += numbers[TOTAL];
	part->counts[place->row].self += numbers[SELF];
	part->counts[place->row].total += numbers[TOTAL];
	if (place->function)
		call_cost_add(&functions->works[place->function - functions->profile->functions],
			      &(struct call_cost){ .calls = numbers[CALLS],
						   .runs = numbers[RUNS],
						   .timed_runs = numbers[TIMED_RUNS],
						   .cycles = numbers[CYCLES] });
	return 0;
}

static int read_rows(struct reading *reading, struct functions_part *part)
{
	bool is_first = true;
	int more;

	TRY(json_scan_token(&reading->s, '['));
	while ((more = json_scan_element(&reading->s, is_first)) > 0) {
		uint64_t numbers[N_NUMBERS];

		TRY(json_scan_token(&reading->s, '['));
		for (size_t i = 0; i < N_NUMBERS; i++) {
			if (i > 0)
				TRY(json_scan_token(&reading->s, ','));
			TRY(json_scan_count(&reading->s, "rows", &numbers[i]));
		}
		TRY(json_scan_token(&reading->s, ']'));
		TRY(add_row(reading, part, numbers));
		is_first = false;
	}
	return more;
}

static int read_part(struct reading *reading, struct functions_part *part)
{
	char name[JSON_NAME_MAX];
	bool is_first = true;
	int more;

	part->counts = calloc(reading->functions->all->n_rows + 1, sizeof(*part->counts));
	if (!part->counts)
		return -ENOMEM;
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

	TRY(shares_new(&functions->all));
	TRY(profile_read_json(&functions->profile, texts->profile, texts->n_profile, fault));
	functions->works = calloc(functions->profile->n_functions + 1, sizeof(*functions->works));
	if (!functions->works)
		return -ENOMEM;
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

	free(reading.places);
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
		free(functions->parts[i].counts);
	free(functions->parts);
	shares_free(functions->all);
	free(functions->works);
	profile_free(functions->profile);
	free(functions);
	return NULL;
}
