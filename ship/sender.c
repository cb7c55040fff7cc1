/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A batch goes once into each table. Where it is not known whether the server has it - no answer
 * came, or the program was restarted - the query that may still run there is ended, and then the
 * server is asked whether the rows are there: an insert of one batch is there as a whole or not at
 * all.
 */
#include "ship/sender.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/util/clock.h"
#include "ship/otlp-answer.h"

#define SECOND_US    1000000
#define FIRST_WAIT   SECOND_US
#define LONGEST_WAIT (300 * (uint64_t)SECOND_US)
#define REPORT_US    (5 * SECOND_US)

struct sending {
	const struct sender_settings *settings;
	struct sender_totals totals;
};

/* What is known of a batch. */
struct progress {
	bool sent[N_BATCH_TABLES];
	bool unsure; /* of the first table that is not sent */
};

uint64_t sender_wait_us(unsigned int n_failures)
{
	uint64_t us = LONGEST_WAIT, chance = 0;

	if (n_failures < 9)
		us = MIN((uint64_t)FIRST_WAIT << n_failures, LONGEST_WAIT);
	if (getrandom(&chance, sizeof(chance), 0) < 0)
		chance = clock_ns(CLOCK_MONOTONIC);
	return us / 2 + chance % (us / 2);
}

static void put_id(const struct sending *s, const struct batch *batch, enum batch_table table,
		   char *ret, size_t n)
{
	snprintf(ret, n, "branchd-%.128s-%s-%" PRIu64 "-%" PRIu64 "-%" PRId64, s->settings->host,
		 batch_table_name(table), batch->first_us, batch->last_us, batch->last_id);
}

static int end_query(const struct sending *s, const char *id, struct fault *fault)
{
	char text[1024];
	FILE *f = fmemopen(text, sizeof(text), "w");

	if (!f)
		return fault_set(fault, -ENOMEM, "out of memory");
	fputs("KILL QUERY WHERE query_id = ", f);
	clickhouse_put_string(f, id);
	fputs(" SYNC", f);
	fclose(f);
	return clickhouse_ask(s->settings->clickhouse, &(struct clickhouse_query){ .text = text },
			      NULL, fault);
}

/* Whether the server has the rows of that batch: 1 or 0; or -errno and @fault. */
static int is_there(const struct sending *s, const struct batch *batch, enum batch_table table,
		    struct fault *fault)
{
	char text[2048], *answer;
	FILE *f = fmemopen(text, sizeof(text), "w");
	int r;

	if (!f)
		return fault_set(fault, -ENOMEM, "out of memory");
	fprintf(f, "SELECT count() FROM %s.%s_rows WHERE host = ", s->settings->database,
		batch_table_name(table));
	clickhouse_put_string(f, s->settings->host);
	fprintf(f,
		" AND window BETWEEN %" PRIu64 " AND %" PRIu64 " AND day = toDate(%" PRIu64
		") AND id BETWEEN %" PRId64 " AND %" PRId64 " FORMAT TabSeparated",
		batch->first_us, batch->last_us, batch_day(batch->first_us), batch->first_id,
		batch->last_id);
	fclose(f);
	r = clickhouse_ask(s->settings->clickhouse, &(struct clickhouse_query){ .text = text },
			   &answer, fault);
	if (r < 0)
		return r;
	if (answer[strspn(answer, "0123456789")] != '\n')
		return fault_set(fault, -EREMOTEIO,
				 "the server answered no number: is it ClickHouse?");
	return strtoull(answer, NULL, 10) > 0;
}

static int send_table(const struct sending *s, const struct batch *batch, enum batch_table table,
		      bool unsure, struct fault *fault)
{
	char text[512], id[512];
	int r = 0;

	put_id(s, batch, table, id, sizeof(id));
	if (unsure && table != BATCH_NAMES) { /* names are no counts: twice is once */
		r = end_query(s, id, fault);
		r = r < 0 ? r : is_there(s, batch, table, fault);
	}
	if (r != 0)
		return r;
	snprintf(text, sizeof(text), "INSERT INTO %s.%s_rows FORMAT TabSeparated",
		 s->settings->database, batch_table_name(table));
	return clickhouse_ask(s->settings->clickhouse,
			      &(struct clickhouse_query){
				      .text = text,
				      .id = id,
				      .body = batch->texts[table],
				      .n_body = batch->sizes[table],
				      .is_gzip = true,
			      },
			      NULL, fault);
}

/* A character of a label's value; others have a meaning in the name or in the URL. */
static void put_label(FILE *f, const char *text)
{
	for (; *text; text++)
		fputc(isalnum((unsigned char)*text) || strchr("-._", *text) ? *text : '_', f);
}

/* There is no way to ask whether it is there. */
static int send_pprof(const struct sending *s, const struct batch *batch, struct fault *fault)
{
	char parameters[512];
	FILE *f = fmemopen(parameters, sizeof(parameters), "w");

	if (!f)
		return fault_set(fault, -ENOMEM, "out of memory");
	fputs("name=branchd%7Bhost%3D", f);
	put_label(f, s->settings->host);
	fprintf(f, "%%7D&format=pprof&from=%" PRIu64 "&until=%" PRIu64, batch->first_us / SECOND_US,
		batch->end_us / SECOND_US);
	fclose(f);
	return clickhouse_ask(s->settings->clickhouse,
			      &(struct clickhouse_query){
				      .settings = parameters,
				      .body = batch->texts[BATCH_PPROF],
				      .n_body = batch->sizes[BATCH_PPROF],
			      },
			      NULL, fault);
}

/* What was rejected is dropped: it would be rejected again. Then @fault says so. */
static int send_otlp(const struct sending *s, const struct batch *batch, struct fault *fault)
{
	uint64_t n_rejected;
	char *answer;
	int r = clickhouse_ask(s->settings->clickhouse,
			       &(struct clickhouse_query){
				       .body = batch->texts[BATCH_OTLP],
				       .n_body = batch->sizes[BATCH_OTLP],
				       .is_gzip = true,
			       },
			       &answer, fault);

	if (r < 0)
		return r;
	n_rejected = otlp_answer_rejected(answer, strlen(answer));
	if (n_rejected == 0)
		return 0;
	spool_count_dropped(s->settings->spool, batch->n_windows);
	fault_set(fault, 0,
		  "the server rejected %" PRIu64 " profiles; %" PRIu64 " windows are dropped",
		  n_rejected, batch->n_windows);
	return 0;
}

static int send_part(const struct sending *s, const struct batch *batch, enum batch_table table,
		     bool unsure, struct fault *fault)
{
	switch (table) {
	case BATCH_PPROF:
		return send_pprof(s, batch, fault);
	case BATCH_OTLP:
		return send_otlp(s, batch, fault);
	default:
		return send_table(s, batch, table, unsure, fault);
	}
}

/* All tables that lack it. */
static int send_batch(struct sending *s, const struct batch *batch, struct progress *progress,
		      struct fault *fault)
{
	int r;

	*fault = (struct fault){};
	for (enum batch_table table = 0; table < N_BATCH_TABLES; table++) {
		if (progress->sent[table] || batch->sizes[table] == 0)
			continue;
		r = send_part(s, batch, table, progress->unsure, fault);
		if (r < 0) {
			progress->unsure = true;
			return r;
		}
		progress->sent[table] = true;
		s->totals.sent_bytes += batch->sizes[table];
	}
	s->totals.sent_windows += batch->n_windows;
	s->totals.last_end_us = batch->end_us;
	s->totals.fault = *fault;
	return 0;
}

static void report(const struct sending *s)
{
	s->settings->report(&s->totals, s->settings->userdata);
}

/* Until it is sent, or has been dropped meanwhile, or the end. False: the end. */
static bool try_batch(struct sending *s, const struct spool_batch *taken)
{
	struct spool *spool = s->settings->spool;
	struct progress progress = { .unsure = taken->is_old };
	struct fault fault = {};

	for (unsigned int n = 0; send_batch(s, taken->batch, &progress, &fault) < 0; n++) {
		s->totals.failures++;
		s->totals.fault = fault;
		report(s);
		if (!spool_sleep(spool, clock_us(CLOCK_MONOTONIC) + sender_wait_us(n)))
			return false;
		if (!spool_has(spool, taken->name)) {
			report(s);
			return true;
		}
	}
	spool_remove(spool, taken->name);
	report(s);
	return true;
}

void sender_run(const struct sender_settings *settings)
{
	struct sending s = { .settings = settings };
	bool running = true;

	report(&s);
	while (running) {
		uint64_t end_us = clock_us(CLOCK_MONOTONIC) + REPORT_US;
		struct spool_batch taken = {};
		int r = spool_take(settings->spool, &taken, end_us, &s.totals.fault);

		if (r > 0)
			running = try_batch(&s, &taken);
		else
			running = spool_sleep(settings->spool, r < 0 ? end_us : 0);
		batch_free(taken.batch);
		if (r <= 0)
			report(&s);
	}
}
