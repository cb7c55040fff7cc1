/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ship/sender.h"

#include <inttypes.h>
#include <sys/random.h>

#include "common/util/clock.h"

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

/* What was rejected is dropped: it would be rejected again. Then @fault says so. */
static int send_part(const struct sending *s, const struct batch *batch, enum batch_table table,
		     bool unsure, struct fault *fault)
{
	uint64_t n_rejected = 0;
	int r = receiver_send(s->settings->receiver,
			      &(struct receiver_part){ batch, table, unsure }, &n_rejected, fault);

	if (r < 0 || n_rejected == 0)
		return r;
	spool_count_dropped(s->settings->spool, batch->n_windows);
	fault_set(fault, 0,
		  "the server rejected %" PRIu64 " profiles; %" PRIu64 " windows are dropped",
		  n_rejected, batch->n_windows);
	return 0;
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
