/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Windows have their start in microseconds, sums that of a minute, an hour or a day. A host sends
 * to one server: which of its times a build ran in is asked of the tables of that server, beside
 * the rows.
 */
#include "client/cluster/cluster-sql.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/clickhouse/clickhouse.h"

#define DAY_S 86400

#define HASH "cityHash64(object, symbol)" /* "function" of the tables of all units */

static const struct {
	const char *by_unit;      /* the table of functions by unit */
	const char *of_all_units; /* a smaller one */
	const char *function;     /* of the latter */
	const char *column;
	const char *seconds; /* of the column, since 1970 */
	const char *of_window;
} grains[N_CLUSTER_GRAINS] = {
	[CLUSTER_MINUTE] = { "functions_minute", "functions_minute", HASH, "minute",
			     "toUInt32(minute)", "toDateTime(intDiv(window, 60000000) * 60)" },
	[CLUSTER_HOUR] = { "functions_hour", "code_hour", "function", "hour", "toUInt32(hour)",
			   "toDateTime(intDiv(window, 3600000000) * 3600)" },
	[CLUSTER_DAY] = { "functions_day", "code_day", "function", "day", "(toUInt32(day) * 86400)",
			  "day" },
};

static void put_names(FILE *f, const char *column, const struct cluster_names *names)
{
	if (!names)
		return;
	fprintf(f, " AND %s IN (", column);
	for (size_t i = 0; i < names->n; i++) {
		fputs(i > 0 ? ", " : "", f);
		clickhouse_put_string(f, names->names[i]);
	}
	fputc(')', f);
}

static void put_days(FILE *f, struct cluster_time span)
{
	fprintf(f, "day BETWEEN toDate(%" PRIu64 ") AND toDate(%" PRIu64 ")", span.start / DAY_S,
		(span.end - 1) / DAY_S);
}

static bool is_empty(const struct cluster_piece *piece)
{
	return piece->times[0].start >= piece->times[0].end &&
	       piece->times[1].start >= piece->times[1].end;
}

/* Both ends, by what @seconds says of a row; and by days, which the server finds soon. */
static void put_times(FILE *f, const struct cluster_piece *piece, const char *seconds)
{
	const struct cluster_time *a = &piece->times[0], *b = &piece->times[1];
	struct cluster_time both = *a;

	if (a->start >= a->end)
		both = *b;
	else if (b->start < b->end)
		both.end = b->end;
	put_days(f, both);
	fprintf(f,
		" AND ((%s >= %" PRIu64 " AND %s < %" PRIu64 ") OR (%s >= %" PRIu64
		" AND %s < %" PRIu64 "))",
		seconds, a->start, seconds, a->end, seconds, b->start, seconds, b->end);
}

/* "a1,b2" */
static void put_build_ids(FILE *f, const char *list)
{
	const char *separator = "(";

	for (; *list; list += strcspn(list, ","), list += *list == ',') {
		int n = (int)strcspn(list, ",");

		fprintf(f, "%sbuild_id LIKE '%.*s%%'", separator, n, list);
		separator = " OR ";
	}
	fputc(')', f);
}

/* The times of hosts, as @column says them, in which a build ran. */
static void put_builds(FILE *f, const struct cluster_where *where,
		       const struct cluster_piece *piece, enum cluster_grain grain,
		       const char *column)
{
	const char *const lists[] = { where->build_id, where->without_build_id };

	for (int i = 0; i < 2; i++) {
		if (!lists[i])
			continue;
		fprintf(f, " AND (host, %s) %sIN (SELECT host, %s FROM branchd.%s WHERE ", column,
			i > 0 ? "NOT " : "", grains[grain].column, grains[grain].of_all_units);
		put_times(f, piece, grains[grain].seconds);
		fputs(" AND ", f);
		put_build_ids(f, lists[i]);
		fputc(')', f);
	}
}

static const char *prefix(const struct cluster_where *where)
{
	return where->all_servers ? "all_" : "";
}

static void put_part(FILE *f, const struct cluster_question *question, const char *seconds)
{
	if (question->parts == CLUSTER_PART_HOST)
		fputs("host", f);
	else if (question->parts == CLUSTER_PART_TIME)
		fprintf(f, "intDiv(%s - %" PRIu64 ", %" PRIu64 ")", seconds,
			question->where.span.start, question->part_s);
	else
		fputs("''", f);
}

/* What stands for the names of a row. */
static const char *key_of(const struct cluster_question *question, enum cluster_grain grain)
{
	if (question->by == CLUSTER_BY_UNIT)
		return "cityHash64(unit)";
	if (question->by == CLUSTER_BY_HOST)
		return "cityHash64(host)";
	return question->where.units ? HASH : grains[grain].function;
}

static void put_rows(FILE *f, const struct cluster_question *question,
		     const struct cluster_piece *piece, enum cluster_grain grain)
{
	const struct cluster_where *where = &question->where;
	bool by_unit = where->units || question->by == CLUSTER_BY_UNIT;

	fprintf(f, " FROM branchd.%s%s WHERE ", prefix(where),
		by_unit ? grains[grain].by_unit : grains[grain].of_all_units);
	put_times(f, piece, grains[grain].seconds);
	put_names(f, "host", where->hosts);
	put_names(f, "unit", where->units);
	put_builds(f, where, piece, grain, grains[grain].column);
}

static void put_sums(FILE *f, const struct cluster_question *question,
		     const struct cluster_piece *piece, enum cluster_grain grain)
{
	fputs("SELECT ", f);
	put_part(f, question, grains[grain].seconds);
	fprintf(f, " AS part, %s AS k, sum(self) AS s, sum(total) AS t", key_of(question, grain));
	put_rows(f, question, piece, grain);
	fputs(" GROUP BY part, k", f);
}

static void put_row_names(FILE *f, const struct cluster_question *question,
			  const struct cluster_piece *piece, enum cluster_grain grain)
{
	static const char *const names[] = {
		[CLUSTER_BY_FUNCTION] = "any(object) AS a, any(symbol) AS b",
		[CLUSTER_BY_UNIT] = "any(unit) AS a, '' AS b",
		[CLUSTER_BY_HOST] = "any(host) AS a, '' AS b",
	};

	fprintf(f, "SELECT %s AS k, %s, min(build_id) AS least, max(build_id) AS most",
		key_of(question, grain), names[question->by]);
	put_rows(f, question, piece, grain);
	fputs(" GROUP BY k", f);
}

typedef void (*put_piece)(FILE *f, const struct cluster_question *question,
			  const struct cluster_piece *piece, enum cluster_grain grain);

/* What @put writes of each grain, all together. */
static void put_pieces(FILE *f, const struct cluster_question *question, put_piece put)
{
	struct cluster_piece pieces[N_CLUSTER_GRAINS];
	const char *separator = " FROM (";

	cluster_span_split(pieces, question->where.span, question->where.coarsest);
	for (int grain = 0; grain < N_CLUSTER_GRAINS; grain++) {
		if (is_empty(&pieces[grain]))
			continue;
		fputs(separator, f);
		put(f, question, &pieces[grain], (enum cluster_grain)grain);
		separator = " UNION ALL ";
	}
	fputc(')', f);
}

static char *finish(FILE *f, char **text)
{
	if (fclose(f) == 0)
		return *text;
	free(*text);
	return NULL;
}

/* The rows of a single grain are sums already. */
static void put_all_sums(FILE *f, const struct cluster_question *question)
{
	struct cluster_piece pieces[N_CLUSTER_GRAINS];
	int n = 0, grain = 0;

	cluster_span_split(pieces, question->where.span, question->where.coarsest);
	for (int i = 0; i < N_CLUSTER_GRAINS; i++)
		if (!is_empty(&pieces[i])) {
			n++;
			grain = i;
		}
	if (n == 1) {
		put_sums(f, question, &pieces[grain], (enum cluster_grain)grain);
		return;
	}
	fputs("SELECT part, k, sum(s), sum(t)", f);
	put_pieces(f, question, put_sums);
	fputs(" GROUP BY part, k", f);
}

char *cluster_sql_counts(const struct cluster_question *question)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return NULL;
	put_all_sums(f, question);
	fputs(" ORDER BY k, part FORMAT TabSeparated", f);
	return finish(f, &text);
}

/* The rows of all pieces, united: @head has the columns of the sum, @tail its groups and order. */
static char *unite(const struct cluster_question *question, const char *head, put_piece put,
		   const char *tail)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return NULL;
	fputs(head, f);
	put_pieces(f, question, put);
	fprintf(f, "%s FORMAT TabSeparated", tail);
	return finish(f, &text);
}

char *cluster_sql_names(const struct cluster_question *question)
{
	return unite(
		question,
		"SELECT k, any(a) AS c, any(b) AS d, if(min(least) = max(most), min(least), '')",
		put_row_names, " GROUP BY k ORDER BY c, d");
}

static void put_windows(FILE *f, const struct cluster_where *where,
			const struct cluster_piece *piece, enum cluster_grain grain)
{
	fprintf(f, " FROM branchd.%swindows%s FINAL WHERE ", prefix(where),
		where->all_servers ? "" : "_rows");
	put_times(f, piece, "intDiv(window, 1000000)");
	put_names(f, "host", where->hosts);
	put_builds(f, where, piece, grain, grains[grain].of_window);
}

static void put_hosts(FILE *f, const struct cluster_question *question,
		      const struct cluster_piece *piece, enum cluster_grain grain)
{
	fputs("SELECT host, count() AS n, sum(samples) AS a, sum(lost) AS b, sum(length_us) AS c, "
	      "min(window) AS d, max(window + length_us) AS e, min(event) AS g, max(event) AS h, "
	      "min(mode) AS i, max(mode) AS j",
	      f);
	put_windows(f, &question->where, piece, grain);
	fputs(" GROUP BY host", f);
}

char *cluster_sql_hosts(const struct cluster_where *where)
{
	const struct cluster_question question = { .where = *where };

	return unite(&question,
		     "SELECT host, sum(n), sum(a), sum(b), sum(c), min(d), max(e), min(g), max(h), "
		     "min(i), max(j)",
		     put_hosts, " GROUP BY host ORDER BY host");
}

static void put_window_parts(FILE *f, const struct cluster_question *question,
			     const struct cluster_piece *piece, enum cluster_grain grain)
{
	fputs("SELECT ", f);
	put_part(f, question, "intDiv(window, 1000000)");
	fputs(" AS part, count() AS n", f);
	put_windows(f, &question->where, piece, grain);
	fputs(" GROUP BY part", f);
}

char *cluster_sql_windows(const struct cluster_question *question)
{
	return unite(question, "SELECT part, sum(n)", put_window_parts,
		     " GROUP BY part ORDER BY part");
}

static char *format_names(const struct cluster_where *where, const char *column, const char *table)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return NULL;
	fprintf(f, "SELECT %s FROM branchd.%s%s WHERE ", column, prefix(where), table);
	put_days(f, where->span);
	fprintf(f, " GROUP BY %s ORDER BY %s FORMAT TabSeparated", column, column);
	return finish(f, &text);
}

char *cluster_sql_host_names(const struct cluster_where *where)
{
	return format_names(where, "host", where->all_servers ? "windows" : "windows_rows");
}

char *cluster_sql_unit_names(const struct cluster_where *where)
{
	return format_names(where, "unit", "functions_day");
}
