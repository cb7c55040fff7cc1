/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GetFunctions by process, program, comm, unit and user against the profiles of the same windows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/profile/function-counts.h"
#include "tests/support/methods-service.h"

#define N_WINDOWS 6
#define MAX_OWNED 200

/* The samples of what the text names. */
struct owned {
	char name[200];
	uint64_t samples;
};

struct owners {
	struct owned rows[MAX_OWNED];
	size_t n;
};

static void add(struct owners *owners, const char *name, uint64_t samples)
{
	size_t i = 0;

	while (i < owners->n && strcmp(owners->rows[i].name, name) != 0)
		i++;
	assert_true(i < MAX_OWNED);
	snprintf(owners->rows[i].name, sizeof(owners->rows[i].name), "%s", name);
	owners->rows[i].samples += samples;
	owners->n += i == owners->n;
}

/* @process may be NULL: samples of none. */
static void add_process(struct owners *owners, const char *by,
			const struct profile_process *process, uint64_t samples)
{
	char name[200] = "none";

	if (process && strcmp(by, "comm") == 0)
		snprintf(name, sizeof(name), "name %s", process->comm);
	else if (process && strcmp(by, "unit") == 0)
		snprintf(name, sizeof(name), "%s", process->unit ?: "none");
	else if (process && strcmp(by, "user") == 0)
		snprintf(name, sizeof(name), "%u", process->uid);
	else if (process && strcmp(by, "program") == 0)
		snprintf(name, sizeof(name), "%s %s", process->comm, process->executable ?: "-");
	else if (process)
		snprintf(name, sizeof(name), "%d %llu %s %s %s %u", process->pid,
			 (unsigned long long)process->start_ns, process->comm,
			 process->executable ?: "-", process->unit ?: "-", process->uid);
	add(owners, name, samples);
}

static void add_window_of(struct owners *owners, struct caller *caller, const char *by, int id,
			  const char *filter)
{
	_cleanup_(profile_freep) struct profile *window = NULL;
	struct function_counts counts;
	char text[128], list[16];

	snprintf(text, sizeof(text), "{\"first\":%d%s}", id, filter);
	snprintf(list, sizeof(list), "%d", id);
	window = get_profile(caller, text, list);
	assert_int_equal(function_counts_init(&counts, window), 0);
	for (size_t i = 0; i < counts.n_processes; i++)
		add_process(owners, by,
			    counts.processes[i].process == PROFILE_NONE ?
				    NULL :
				    &window->processes[counts.processes[i].process],
			    counts.processes[i].samples);
	function_counts_done(&counts);
}

static void add_part(struct owners *owners, const json_t *reply, const struct profile *names,
		     const char *by, size_t part)
{
	json_t *places = json_object_get(reply, "places"), *row;
	json_t *from = json_array_get(json_object_get(reply, "parts"), part);
	size_t i;

	json_array_foreach(json_object_get(from, "rows"), i, row) {
		json_int_t place = json_integer_value(json_array_get(row, 0));
		json_int_t self = json_integer_value(json_array_get(row, 1));
		const json_t *process = json_array_get(json_array_get(places, (size_t)place), 0);

		assert_non_null(process);
		add_process(owners, by,
			    json_is_null(process) ? NULL :
						    &names->processes[json_integer_value(process)],
			    (uint64_t)self);
	}
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct owned *)a)->name, ((const struct owned *)b)->name);
}

static size_t drop_empty(struct owners *owners)
{
	size_t n = 0;

	for (size_t i = 0; i < owners->n; i++)
		if (owners->rows[i].samples > 0)
			owners->rows[n++] = owners->rows[i];
	qsort(owners->rows, n, sizeof(*owners->rows), compare);
	return n;
}

/* Windows 1 to 3 are the first part; those behind them the second, and where @last is 0 the open
 * one. */
static void assert_owners(struct caller *caller, const char *by, int last, const char *filter)
{
	_cleanup_(profile_freep) struct profile *names = NULL;
	json_t *answer, *reply;
	char text[128];

	snprintf(text, sizeof(text), "{\"first\":1,\"last\":%d,\"parts\":2,\"by\":\"%s\"%s}", last,
		 by, filter);
	answer = call(caller, "GetFunctions", text);
	reply = json_object_get(answer, "parameters");
	assert_non_null(reply);
	names = read_profile(reply);
	assert_int_equal(names->n_objects, 0);
	for (int part = 0; part < 2; part++) {
		struct owners *expected = calloc(2, sizeof(*expected)), *found = expected + 1;

		assert_non_null(expected);
		for (int id = 1 + 3 * part; id <= 3 + 3 * part; id++)
			add_window_of(expected, caller, by, id, filter);
		if (part > 0 && last == 0)
			add_window_of(expected, caller, by, 0, filter);
		add_part(found, reply, names, by, (size_t)part);
		expected->n = drop_empty(expected);
		found->n = drop_empty(found);
		assert_true(expected->n > 0);
		assert_int_equal(found->n, expected->n);
		for (size_t i = 0; i < found->n; i++) {
			assert_string_equal(found->rows[i].name, expected->rows[i].name);
			assert_int_equal(found->rows[i].samples, expected->rows[i].samples);
		}
		free(expected);
	}
	json_decref(answer);
}

static void owners_are_those_of_the_profiles(void **state)
{
	static const char *const bys[] = { "process", "program", "comm", "unit", "user" };
	json_t *answer, *reply;
	struct service service;
	struct caller caller;

	service_init(&service);
	service.part = 60;
	caller = connect_caller(&service);
	for (uint64_t i = 0; i < N_WINDOWS; i++)
		add_window(&service, i + 1, false, i);
	archive_set_open(service.archive, START_US + N_WINDOWS * LENGTH_US, "software");
	json_decref(call(&caller, "GetFunctions", "{\"first\":1,\"last\":0}"));
	service.part = 0; /* the open window stays as it was then, however long the rest takes */
	for (size_t i = 0; i < ARRAY_SIZE(bys); i++) {
		assert_owners(&caller, bys[i], 0, "");
		assert_owners(&caller, bys[i], 0, ",\"uid\":1");
		assert_owners(&caller, bys[i], N_WINDOWS, "");
		assert_owners(&caller, bys[i], N_WINDOWS, ",\"uid\":1");
	}
	/* with the open window nothing is left out */
	answer = call(&caller, "GetFunctions",
		      "{\"first\":1,\"last\":0,\"by\":\"process\",\"limit\":1}");
	reply = json_object_get(answer, "parameters");
	assert_int_equal(json_integer_value(json_object_get(reply, "left_out")), 0);
	assert_true(json_array_size(json_object_get(reply, "places")) > 10);
	json_decref(answer);
	caller_done(&caller);
	service_done(&service);
}

static int compare_samples(const void *a, const void *b)
{
	const struct owned *x = a, *y = b;

	return (x->samples < y->samples) - (x->samples > y->samples);
}

static void drop_none(struct owners *owners)
{
	size_t n = 0;

	for (size_t i = 0; i < owners->n; i++)
		if (strcmp(owners->rows[i].name, "none") != 0)
			owners->rows[n++] = owners->rows[i];
	owners->n = n;
}

/* What the processes of windows 1 to 6 counted, most first, by the request's @by and named by
 * @name_by; *@ret is how many were left out. */
static struct owners *ask_owners(struct caller *caller, const char *by, const char *name_by,
				 const char *limit, json_int_t *ret)
{
	_cleanup_(profile_freep) struct profile *names = NULL;
	struct owners *owners = calloc(1, sizeof(*owners));
	json_t *answer, *reply;
	char text[128];

	assert_non_null(owners);
	snprintf(text, sizeof(text), "{\"first\":1,\"last\":6,\"by\":\"%s\"%s}", by, limit);
	answer = call(caller, "GetFunctions", text);
	reply = json_object_get(answer, "parameters");
	assert_non_null(reply);
	names = read_profile(reply);
	add_part(owners, reply, names, name_by, 0);
	drop_none(owners);
	owners->n = drop_empty(owners);
	qsort(owners->rows, owners->n, sizeof(*owners->rows), compare_samples);
	*ret = json_integer_value(json_object_get(reply, "left_out"));
	json_decref(answer);
	return owners;
}

static struct owners *ask_processes(struct caller *caller, const char *limit, json_int_t *ret)
{
	return ask_owners(caller, "process", "process", limit, ret);
}

static bool has(const struct owners *owners, const struct owned *row)
{
	for (size_t i = 0; i < owners->n; i++)
		if (strcmp(owners->rows[i].name, row->name) == 0)
			return owners->rows[i].samples == row->samples;
	return false;
}

/* What has more than @rows_at_once rows is done in a thread; 0: by default. */
static void assert_limits(size_t rows_at_once)
{
	struct service service;
	struct caller caller;
	struct owners *all;
	json_int_t n_left_out;

	service_init_with(&service, &(struct query_limits){ .rows_at_once = rows_at_once }, NULL);
	caller = connect_caller(&service);
	for (uint64_t i = 0; i < N_WINDOWS; i++)
		add_window(&service, i + 1, false, i);
	all = ask_processes(&caller, "", &n_left_out);
	assert_int_equal(n_left_out, 0);
	assert_true(all->n > 4);
	for (size_t limit = 1; limit <= all->n; limit++) {
		char text[32];
		struct owners *some;

		snprintf(text, sizeof(text), ",\"limit\":%zu", limit);
		some = ask_processes(&caller, text, &n_left_out);
		assert_true(some->n >= limit);
		assert_int_equal(some->n + (size_t)n_left_out, all->n);
		for (size_t i = 0; i < limit; i++)
			assert_true(has(some, &all->rows[i]));
		for (size_t i = limit; i < some->n; i++)
			assert_int_equal(some->rows[i].samples, all->rows[limit - 1].samples);
		free(some);
	}
	free(all);
	assert_error(&caller, "GetFunctions", "{\"first\":1,\"limit\":3,\"by\":\"comm\"}",
		     "{\"error\":\"org.varlink.service.InvalidParameter\","
		     "\"parameters\":{\"parameter\":\"limit\"}}");
	assert_error(&caller, "GetFunctions",
		     "{\"first\":1,\"limit\":3,\"by\":\"process\",\"parts\":2}",
		     "{\"error\":\"org.varlink.service.InvalidParameter\","
		     "\"parameters\":{\"parameter\":\"limit\"}}");
	caller_done(&caller);
	service_done(&service);
}

static void the_processes_with_most_samples(void **state)
{
	assert_limits(0);
	assert_limits(1);
}

/* Whether the text that names a process, see add_process(), has that name and executable behind the
 * two numbers. */
static bool is_of_program(const char *process, const char *program)
{
	const char *at = strchr(process, ' ');
	size_t n = strlen(program);

	at = at ? strchr(at + 1, ' ') : NULL;
	return at && strncmp(at + 1, program, n) == 0 && at[1 + n] == ' ';
}

static void programs_have_the_names_of_their_hottest_processes(void **state)
{
	struct owners *processes, *programs, *named;
	struct service service;
	struct caller caller;
	size_t n_several = 0;
	json_int_t unused;

	service_init(&service);
	caller = connect_caller(&service);
	for (uint64_t i = 0; i < N_WINDOWS; i++)
		add_window(&service, i + 1, false, i);
	processes = ask_processes(&caller, "", &unused);
	programs = ask_owners(&caller, "program", "program", "", &unused);
	named = ask_owners(&caller, "program", "process", "", &unused);
	assert_int_equal(named->n, programs->n);
	for (size_t i = 0; i < programs->n; i++) {
		uint64_t samples = 0, most = 0, n = 0, of_named = 0;

		for (size_t k = 0; k < processes->n; k++) {
			const struct owned *process = &processes->rows[k];

			if (!is_of_program(process->name, programs->rows[i].name))
				continue;
			n++;
			samples += process->samples;
			most = most > process->samples ? most : process->samples;
			for (size_t m = 0; m < named->n; m++)
				if (strcmp(named->rows[m].name, process->name) == 0)
					of_named = process->samples;
		}
		n_several += n > 1;
		assert_int_equal(samples, programs->rows[i].samples);
		assert_int_equal(of_named, most);
	}
	assert_true(n_several > 0);
	free(processes);
	free(programs);
	free(named);
	caller_done(&caller);
	service_done(&service);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(owners_are_those_of_the_profiles),
		cmocka_unit_test(the_processes_with_most_samples),
		cmocka_unit_test(programs_have_the_names_of_their_hottest_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
