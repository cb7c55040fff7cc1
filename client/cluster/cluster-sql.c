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

#define DAY_S 86400

static const struct {
	const char *table, *column;
	const char *seconds; /* of the column, since 1970 */
	const char *of_window;
} grains[N_CLUSTER_GRAINS] = {
	[CLUSTER_MINUTE] = { "functions_minute", "minute", "toUInt32(minute)",
			     "toDateTime(intDiv(window, 60000000) * 60)" },
	[CLUSTER_HOUR] = { "functions_hour", "hour", "toUInt32(hour)",
			   "toDateTime(intDiv(window, 3600000000) * 3600)" },
	[CLUSTER_DAY] = { "functions_day", "day", "(toUInt32(day) * 86400)", "day" },
};

static void put_string(FILE *f, const char *text)
{
	fputc('\'', f);
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			fputc('\\', f);
		fputc(*text, f);
	}
	fputc('\'', f);
}

static void put_names(FILE *f, const char *column, const struct cluster_names *names)
{
	if (!names)
		return;
	fprintf(f, " AND %s IN (", column);
	for (size_t i = 0; i < names->n; i++) {
		fputs(i > 0 ? ", " : "", f);
		put_string(f, names->names[i]);
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
			i > 0 ? "NOT " : "", grains[grain].column, grains[grain].table);
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

static void put_sums(FILE *f, const struct cluster_question *question,
		     const struct cluster_piece *piece, enum cluster_grain grain)
{
	static const char *const keys[] = {
		[CLUSTER_BY_FUNCTION] = "object AS a, symbol AS b",
		[CLUSTER_BY_UNIT] = "unit AS a, '' AS b",
		[CLUSTER_BY_HOST] = "host AS a, '' AS b",
	};
	const struct cluster_where *where = &question->where;

	fputs("SELECT ", f);
	put_part(f, question, grains[grain].seconds);
	fprintf(f,
		" AS part, %s, min(build_id) AS least, max(build_id) AS most, sum(self) AS s, "
		"sum(total) AS t FROM branchd.%s%s WHERE ",
		keys[question->by], prefix(where), grains[grain].table);
	put_times(f, piece, grains[grain].seconds);
	put_names(f, "host", where->hosts);
	put_names(f, "unit", where->units);
	put_builds(f, where, piece, grain, grains[grain].column);
	fputs(" GROUP BY part, a, b", f);
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

char *cluster_sql_counts(const struct cluster_question *question)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return NULL;
	fputs("SELECT part, a, b, if(min(least) = max(most), min(least), '') AS build, sum(s), "
	      "sum(t)",
	      f);
	put_pieces(f, question, put_sums);
	fputs(" GROUP BY part, a, b ORDER BY a, b, part FORMAT TabSeparated", f);
	return finish(f, &text);
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
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return NULL;
	fputs("SELECT host, sum(n), sum(a), sum(b), sum(c), min(d), max(e), min(g), max(h), "
	      "min(i), max(j)",
	      f);
	put_pieces(f, &question, put_hosts);
	fputs(" GROUP BY host ORDER BY host FORMAT TabSeparated", f);
	return finish(f, &text);
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
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return NULL;
	fputs("SELECT part, sum(n)", f);
	put_pieces(f, question, put_window_parts);
	fputs(" GROUP BY part ORDER BY part FORMAT TabSeparated", f);
	return finish(f, &text);
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
