/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GetFunctions against what follows from the profiles of the same windows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/profile/filter.h"
#include "common/profile/function-counts.h"
#include "tests/support/methods-service.h"

/* What was counted of one function, or of what of an object is in none. */
struct named {
	uint32_t object;
	uint64_t start; /* of the function; UINT64_MAX for none */
	uint64_t self, total, calls, runs;
};

#define MAX_NAMED 1000

struct names {
	struct named rows[MAX_NAMED];
	size_t n;
};

static void add_named(struct names *names, uint32_t object, uint64_t start,
		      const struct named *counts)
{
	struct named *row = names->rows;

	if (counts->self + counts->total + counts->calls + counts->runs == 0)
		return;
	while (row < names->rows + names->n && (row->object != object || row->start != start))
		row++;
	if (row == names->rows + names->n) {
		assert_true(++names->n < MAX_NAMED);
		*row = (struct named){ .object = object, .start = start };
	}
	row->self += counts->self;
	row->total += counts->total;
	row->calls += counts->calls;
	row->runs += counts->runs;
}

static int compare_named(const void *p, const void *q)
{
	const struct named *a = p, *b = q;

	if (a->object != b->object)
		return a->object < b->object ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

/* The object's index in another profile. */
static uint32_t translate(const struct profile *from, const struct profile *to, uint32_t object)
{
	if (object == PROFILE_NONE)
		return object;
	for (uint32_t i = 0; i < to->n_objects; i++)
		if (profile_same_object(&from->objects[object], &to->objects[i]))
			return i;
	fail_msg("an object is missing");
	return PROFILE_NONE;
}

/* By the functions that the window's own profile has: all, or those of a name. */
static void add_profile(struct names *names, const struct profile *to, const struct profile *p,
			const char *symbol)
{
	struct function_counts counts;

	assert_int_equal(function_counts_init(&counts, p), 0);
	for (size_t i = 0; i < counts.n_rows; i++) {
		const struct function_count *count = &counts.rows[i];
		const struct function_tally *t = &count->tally;
		uint64_t start = count->function == PROFILE_NONE ?
					 UINT64_MAX :
					 p->functions[count->function].start;

		if (symbol && (start == UINT64_MAX ||
			       !profile_symbol_matches(p->functions[count->function].name, symbol)))
			continue;
		add_named(names, translate(p, to, count->at.object), start,
			  &(struct named){ .self = t->self,
					   .total = t->total,
					   .calls = t->calls,
					   .runs = t->runs });
	}
	function_counts_done(&counts);
}

static uint64_t number_of(const json_t *row, size_t i)
{
	return (uint64_t)json_integer_value(json_array_get(row, i));
}

static void add_part(struct names *names, const json_t *reply, size_t part)
{
	json_t *places = json_object_get(reply, "places"), *row;
	json_t *from = json_array_get(json_object_get(reply, "parts"), part);
	size_t i;

	json_array_foreach(json_object_get(from, "rows"), i, row) {
		const json_t *place = json_array_get(places, number_of(row, 0));
		const json_t *object = json_array_get(place, 0), *start = json_array_get(place, 1);

		assert_non_null(start);
		add_named(names,
			  json_is_null(object) ? PROFILE_NONE :
						 (uint32_t)json_integer_value(object),
			  json_is_null(start) ? UINT64_MAX :
						strtoull(json_string_value(start), NULL, 16),
			  &(struct named){ .self = number_of(row, 1),
					   .total = number_of(row, 2),
					   .calls = number_of(row, 3),
					   .runs = number_of(row, 4) });
	}
}

/* A part of GetFunctions's reply is what follows from the profiles of the windows with @n ids. */
static void assert_part(struct caller *caller, const json_t *reply, const struct profile *p,
			size_t part, const char *filter, const int *ids)
{
	struct names *a = calloc(2, sizeof(*a)), *b = a + 1;
	json_t *from = json_array_get(json_object_get(reply, "parts"), part);
	uint64_t samples = 0;
	char text[128], list[16];

	assert_non_null(a);
	for (size_t i = 0; ids[i] >= 0; i++) {
		_cleanup_(profile_freep) struct profile *window = NULL;

		snprintf(text, sizeof(text), "{\"first\":%d%s}", ids[i], filter);
		snprintf(list, sizeof(list), "%d", ids[i]);
		window = get_profile(caller, text, list);
		add_profile(a, p, window, NULL);
		samples += window->counters.samples;
	}
	add_part(b, reply, part);
	qsort(a->rows, a->n, sizeof(*a->rows), compare_named);
	qsort(b->rows, b->n, sizeof(*b->rows), compare_named);
	assert_int_equal(a->n, b->n);
	assert_memory_equal(a->rows, b->rows, a->n * sizeof(*a->rows));
	assert_int_equal(json_integer_value(json_object_get(from, "samples")), samples);
	free(a);
}

static void functions_are_those_of_the_profiles(void **state)
{
	_cleanup_(profile_freep) struct profile *names = NULL;
	struct service service;
	struct caller caller;
	json_t *answer, *reply;

	service_init(&service);
	service.part = 60;
	caller = connect_caller(&service);
	for (uint64_t i = 0; i < 6; i++)
		add_window(&service, i + 1, false, i);
	archive_set_open(service.archive, START_US + 6 * LENGTH_US, "software");
	/* six windows and the open one in three parts: 2, 2, 3 */
	answer = call(&caller, "GetFunctions", "{\"first\":1,\"last\":0,\"parts\":3}");
	service.part = 0; /* the open window stays as it was then, however long the rest takes */
	reply = json_object_get(answer, "parameters");
	assert_non_null(reply);
	names = read_profile(reply);
	assert_int_equal(json_array_size(json_object_get(reply, "windows")), 7);
	assert_int_equal(json_array_size(json_object_get(reply, "parts")), 3);
	assert_part(&caller, reply, names, 0, "", (const int[]){ 1, 2, -1 });
	assert_part(&caller, reply, names, 1, "", (const int[]){ 3, 4, -1 });
	assert_part(&caller, reply, names, 2, "", (const int[]){ 5, 6, 0, -1 });
	json_decref(answer);
	assert_refused(&caller, "GetFunctions", "{\"first\":1,\"parts\":0}", "parts");
	assert_refused(&caller, "GetFunctions", "{\"first\":1,\"parts\":201}", "parts");
	assert_refused(&caller, "GetProfile", "{\"first\":1,\"parts\":2}", "parts");
	caller_done(&caller);
	service_done(&service);
}

/* Six windows in eight parts of the time from the second to the fifth. */
static void parts_are_of_time(void **state)
{
	_cleanup_(profile_freep) struct profile *names = NULL;
	struct service service;
	struct caller caller;
	json_t *answer, *reply;
	char text[160];

	service_init(&service);
	caller = connect_caller(&service);
	for (uint64_t i = 0; i < 6; i++)
		add_window(&service, i + 1, false, i);
	snprintf(text, sizeof(text),
		 "{\"first\":1,\"last\":6,\"parts\":8,\"since_us\":%llu,\"until_us\":%llu}",
		 (unsigned long long)(START_US + LENGTH_US),
		 (unsigned long long)(START_US + 5 * LENGTH_US));
	answer = call(&caller, "GetFunctions", text);
	reply = json_object_get(answer, "parameters");
	assert_non_null(reply);
	names = read_profile(reply);
	assert_int_equal(json_array_size(json_object_get(reply, "parts")), 8);
	assert_part(&caller, reply, names, 0, "", (const int[]){ 1, -1 });
	assert_part(&caller, reply, names, 1, "", (const int[]){ 2, -1 });
	assert_part(&caller, reply, names, 2, "", (const int[]){ -1 });
	assert_part(&caller, reply, names, 3, "", (const int[]){ 3, -1 });
	assert_part(&caller, reply, names, 5, "", (const int[]){ 4, -1 });
	assert_part(&caller, reply, names, 7, "", (const int[]){ 5, 6, -1 });
	json_decref(answer);
	assert_refused(&caller, "GetFunctions", "{\"first\":1,\"since_us\":2,\"until_us\":1}",
		       "until_us");
	caller_done(&caller);
	service_done(&service);
}

/* Without the function at the end of all addresses, which a reply has as one of no function. */
static void drop_last(struct names *names)
{
	size_t n = 0;

	for (size_t i = 0; i < names->n; i++)
		if (names->rows[i].start != UINT64_MAX)
			names->rows[n++] = names->rows[i];
	names->n = n;
}

/* With @symbol, of windows 1 to 3, the rows are those that the windows have of that name. */
static void assert_symbol(struct caller *caller, const struct profile *all, const char *symbol)
{
	_cleanup_(profile_freep) struct profile *names = NULL;
	struct names *a = calloc(2, sizeof(*a)), *b = a + 1;
	json_t *answer, *reply;
	char text[160], list[16];

	assert_non_null(a);
	snprintf(text, sizeof(text), "{\"first\":1,\"last\":3,\"symbol\":\"%s\"}", symbol);
	answer = call(caller, "GetFunctions", text);
	reply = json_object_get(answer, "parameters");
	assert_non_null(reply);
	names = read_profile(reply);
	assert_int_equal(names->counters.samples, all->counters.samples);
	assert_true(names->n_functions < all->n_functions);
	assert_int_equal(names->n_functions > 0, *symbol != '\0');
	for (int id = 1; id <= 3; id++) {
		_cleanup_(profile_freep) struct profile *window = NULL;

		snprintf(text, sizeof(text), "{\"first\":%d}", id);
		snprintf(list, sizeof(list), "%d", id);
		window = get_profile(caller, text, list);
		add_profile(a, names, window, symbol);
	}
	add_part(b, reply, 0);
	drop_last(b);
	qsort(a->rows, a->n, sizeof(*a->rows), compare_named);
	qsort(b->rows, b->n, sizeof(*b->rows), compare_named);
	assert_int_equal(a->n > 0, *symbol != '\0');
	assert_int_equal(a->n, b->n);
	assert_memory_equal(a->rows, b->rows, a->n * sizeof(*a->rows));
	json_decref(answer);
	free(a);
}

static void rows_are_of_functions_by_name(void **state)
{
	_cleanup_(profile_freep) struct profile *names = NULL;
	struct service service;
	struct caller caller;
	json_t *answer;

	service_init(&service);
	caller = connect_caller(&service);
	for (uint64_t i = 0; i < 3; i++)
		add_window(&service, i + 1, false, i);
	answer = call(&caller, "GetFunctions", "{\"first\":1,\"last\":3}");
	names = read_profile(json_object_get(answer, "parameters"));
	assert_true(names->n_functions > 1);
	assert_symbol(&caller, names, names->functions[0].name);
	assert_symbol(&caller, names, names->functions[names->n_functions - 1].name);
	assert_symbol(&caller, names, "");
	json_decref(answer);
	assert_refused(&caller, "GetFunctions", "{\"first\":1,\"symbol\":\"f\",\"by\":\"object\"}",
		       "symbol");
	caller_done(&caller);
	service_done(&service);
}

static int compare_self(const void *p, const void *q)
{
	const struct named *a = p, *b = q;

	return (a->self < b->self) - (a->self > b->self);
}

/* The rows of windows 1 to 3 with samples, most first. */
static struct names *ask_limited(struct caller *caller, const char *what, size_t *ret_left_out,
				 size_t *ret_functions)
{
	_cleanup_(profile_freep) struct profile *names = NULL;
	struct names *rows = calloc(1, sizeof(*rows));
	json_t *answer, *reply;
	size_t n = 0;
	char text[96];

	assert_non_null(rows);
	snprintf(text, sizeof(text), "{\"first\":1,\"last\":3%s}", what);
	answer = call(caller, "GetFunctions", text);
	reply = json_object_get(answer, "parameters");
	assert_non_null(reply);
	names = read_profile(reply);
	*ret_functions = names->n_functions;
	*ret_left_out = (size_t)json_integer_value(json_object_get(reply, "left_out"));
	add_part(rows, reply, 0);
	for (size_t i = 0; i < rows->n; i++)
		if (rows->rows[i].self > 0 || rows->rows[i].total > 0)
			rows->rows[n++] = rows->rows[i];
	rows->n = n;
	qsort(rows->rows, n, sizeof(*rows->rows), compare_self);
	json_decref(answer);
	return rows;
}

static bool has_row(const struct names *names, const struct named *row)
{
	for (size_t i = 0; i < names->n; i++)
		if (compare_named(&names->rows[i], row) == 0)
			return memcmp(&names->rows[i], row, sizeof(*row)) == 0;
	return false;
}

static void the_functions_with_most_samples(void **state)
{
	size_t n_left_out, n_functions, n_all;
	struct names *all, *some;
	struct service service;
	struct caller caller;
	char text[32];

	service_init(&service);
	caller = connect_caller(&service);
	for (uint64_t i = 0; i < 3; i++)
		add_window(&service, i + 1, false, i);
	all = ask_limited(&caller, "", &n_left_out, &n_all);
	assert_int_equal(n_left_out, 0);
	for (size_t limit = 1, n_found = 0; limit < all->n; limit += 3, n_found = 0) {
		snprintf(text, sizeof(text), ",\"limit\":%zu", limit);
		some = ask_limited(&caller, text, &n_left_out, &n_functions);
		assert_int_equal(some->n + n_left_out, all->n);
		for (size_t i = 0; i < some->n; i++)
			assert_true(has_row(all, &some->rows[i]));
		for (size_t i = 0; i < all->n && n_found < limit; i++) {
			assert_true(has_row(some, &all->rows[i]));
			n_found += all->rows[i].start != UINT64_MAX;
		}
		free(some);
	}
	free(all);
	/* by object all rows stay */
	all = ask_limited(&caller, ",\"by\":\"object\"", &n_left_out, &n_functions);
	assert_int_equal(n_functions, n_all);
	some = ask_limited(&caller, ",\"by\":\"object\",\"limit\":1", &n_left_out, &n_functions);
	assert_int_equal(n_left_out, 0);
	assert_true(n_functions < n_all); /* random ones may reach to the end of an object */
	assert_int_equal(some->n, all->n);
	for (size_t i = 0; i < all->n; i++)
		assert_true(has_row(some, &all->rows[i]));
	free(some);
	free(all);
	caller_done(&caller);
	service_done(&service);
}

static bool has_executable(const struct profile *names, const char *executable)
{
	for (size_t i = 0; i < names->n_processes; i++)
		if (names->processes[i].executable &&
		    strcmp(names->processes[i].executable, executable) == 0)
			return true;
	return false;
}

static void executables_are_named_once(void **state)
{
	_cleanup_(profile_freep) struct profile *names = NULL;
	struct service service;
	struct caller caller;
	size_t n = 0;
	json_t *answer;

	service_init(&service);
	caller = connect_caller(&service);
	for (uint64_t i = 0; i < 4; i++)
		add_window(&service, i + 1, false, i);
	answer = call(&caller, "GetFunctions", "{\"first\":1,\"last\":4}");
	names = read_profile(json_object_get(answer, "parameters"));
	for (int id = 1; id <= 4; id++) {
		_cleanup_(profile_freep) struct profile *window = NULL;
		char text[32], list[16];

		snprintf(text, sizeof(text), "{\"first\":%d}", id);
		snprintf(list, sizeof(list), "%d", id);
		window = get_profile(&caller, text, list);
		for (size_t i = 0; i < window->n_processes; i++)
			if (window->processes[i].executable) {
				assert_true(has_executable(names, window->processes[i].executable));
				n++;
			}
	}
	assert_true(n > names->n_processes);
	for (size_t i = 0; i < names->n_processes; i++) {
		assert_int_equal(names->processes[i].pid, -1);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(names->processes[i].executable,
						names->processes[j].executable);
	}
	json_decref(answer);
	caller_done(&caller);
	service_done(&service);
}

static void functions_of_some_processes(void **state)
{
	struct service service;
	struct caller caller;

	service_init(&service);
	caller = connect_caller(&service);
	for (uint64_t i = 0; i < 3; i++)
		add_window(&service, i + 1, false, i);
	for (int uid = 0; uid < 3; uid++) {
		_cleanup_(profile_freep) struct profile *names = NULL;
		json_t *answer, *reply;
		char text[128], filter[32];

		snprintf(filter, sizeof(filter), ",\"uid\":%d", uid);
		snprintf(text, sizeof(text), "{\"first\":1,\"last\":3%s}", filter);
		answer = call(&caller, "GetFunctions", text);
		reply = json_object_get(answer, "parameters");
		assert_non_null(reply);
		names = read_profile(reply);
		assert_part(&caller, reply, names, 0, filter, (const int[]){ 1, 2, 3, -1 });
		json_decref(answer);
	}
	caller_done(&caller);
	service_done(&service);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_those_of_the_profiles),
		cmocka_unit_test(parts_are_of_time),
		cmocka_unit_test(rows_are_of_functions_by_name),
		cmocka_unit_test(the_functions_with_most_samples),
		cmocka_unit_test(executables_are_named_once),
		cmocka_unit_test(functions_of_some_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
