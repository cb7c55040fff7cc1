/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/database/counters.h"

#include <inttypes.h>
#include <string.h>

enum {
	FIND_COUNTER,
	ADD_COUNTER,
	ADD_COUNT,
	READ_COUNTS,
	N_STATEMENTS,
};

static const char *const sql[N_STATEMENTS] = {
	[FIND_COUNTER] = "SELECT id FROM counter WHERE name = ?",
	[ADD_COUNTER] = "INSERT INTO counter (name, meaning) VALUES (?, ?)",
	[ADD_COUNT] = "INSERT INTO counter_count (window, counter, value) VALUES (?, ?, ?)",
	[READ_COUNTS] = "SELECT k.name, c.value FROM counter_count c "
			"LEFT JOIN counter k ON k.id = c.counter WHERE c.window = ?",
};

_Static_assert(N_STATEMENTS == N_STORE_COUNTERS, "counters.h has another number");

static const struct {
	const char *name, *meaning;
} known[] = {
#define X(name, what) { #name, what },
	PROFILE_COUNTERS(X)
#undef X
};

int store_counters_init(struct store_counters *counters, struct database *database)
{
	*counters = (struct store_counters){ .database = database };
	return database_prepare(database, sql, N_STATEMENTS, counters->statements);
}

/* The id of counter @i; that of a damaged database may have any sign. Few are not 0, so that
 * remembering them gains nothing. */
static int find_counter(struct store_counters *counters, size_t i, int64_t *ret)
{
	struct statement *find = counters->statements[FIND_COUNTER];
	struct statement *add = counters->statements[ADD_COUNTER];
	int r;

	statement_bind_text(find, 1, known[i].name);
	r = statement_step(find);
	if (r < 0)
		return r;
	if (r > 0) {
		*ret = statement_int(find, 0);
		return statement_reset(find);
	}
	statement_bind_text(add, 1, known[i].name);
	statement_bind_text(add, 2, known[i].meaning);
	r = statement_run(add);
	*ret = database_last_id(counters->database);
	return r;
}

int store_counters_write(struct store_counters *counters, int64_t window,
			 const struct profile_counters *values)
{
	const uint64_t *value = (const uint64_t *)values;
	struct statement *add = counters->statements[ADD_COUNT];
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		int64_t id;

		if (value[i] == 0)
			continue;
		r = find_counter(counters, i, &id);
		if (r < 0)
			return r;
		STATEMENT_BIND(add, window, id, value[i]);
		r = statement_run(add);
		if (r < 0)
			return r;
	}
	return 0;
}

static void add_value(struct profile_counters *values, const char *name, uint64_t value)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (strcmp(name, known[i].name) == 0)
			((uint64_t *)values)[i] += value;
	}
}

int store_counters_read(struct store_counters *counters, int64_t window,
			struct profile_counters *values)
{
	struct statement *row = counters->statements[READ_COUNTS];
	int r;

	statement_bind_int(row, 1, window);
	while ((r = statement_step(row)) > 0) {
		const char *name = statement_text(row, 0);

		if (!name) {
			r = statement_reset(row);
			return r < 0 ? r :
				       database_damaged(counters->database,
							"window %" PRId64
							" has a counter without a name",
							window);
		}
		add_value(values, name, (uint64_t)statement_int(row, 1));
	}
	return r;
}

int store_counters_describe(struct database *database)
{
	static const char *const update = "UPDATE counter SET meaning = ? WHERE name = ?";
	struct statement *describe;
	int r;

	r = database_prepare(database, &update, 1, &describe);
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(known); i++) {
		statement_bind_text(describe, 1, known[i].meaning);
		statement_bind_text(describe, 2, known[i].name);
		r = statement_run(describe);
	}
	return r;
}
