/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/periodic/periodic.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/periodic/periods.h"
#include "client/periodic/wait.h"
#include "client/term/text.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"

#define MAX_WAIT_US 3000000ull
#define PAUSE_US    100000
#define MAX_TAKE_US 60000000ull /* between two looks at the daemon */

struct periodic {
	const struct periodic_settings *settings;
	struct periods *periods;
	struct profile_source *source;
	struct wait *wait;
	struct profile *profile; /* what is to be reported; NULL: nothing yet */
	uint64_t from_us, n_missed;
	bool failed; /* the last time, and it was said */
};

static void periodic_done(struct periodic *p)
{
	periods_free(p->periods);
	profile_source_free(p->source);
	wait_free(p->wait);
	profile_free(p->profile);
}

/* What is new is added to what is to be reported. */
static int take(struct periodic *p, struct fault *fault)
{
	_cleanup_(profile_freep) struct profile *before = NULL, *more = NULL;
	int r = periods_next(p->periods, &more, fault);

	if (r < 0)
		return r;
	before = TAKE_PTR(p->profile);
	if (!before)
		p->profile = TAKE_PTR(more);
	else if (profile_merge(&p->profile, (const struct profile *[]){ before, more }, 2) < 0)
		return fault_set(fault, -ENOMEM, "out of memory");
	return 0;
}

/* Waits for a window that has just ended: the last report longer, the others have a next one. */
static int take_all(struct periodic *p, bool last, struct fault *fault)
{
	uint64_t until_us = clock_us(CLOCK_MONOTONIC);
	int r = take(p, fault);

	until_us += last ? MAX_WAIT_US : MIN(p->settings->every_us / 4, MAX_WAIT_US);
	while (r >= 0 && periods_is_behind(p->periods) && clock_us(CLOCK_MONOTONIC) < until_us) {
		usleep(PAUSE_US);
		r = take(p, fault);
	}
	return r;
}

static void say_missed(struct periodic *p)
{
	uint64_t n = periods_n_missed(p->periods) - p->n_missed;

	p->n_missed += n;
	if (n > 0)
		text_say(stderr,
			 "samples of %" PRIu64 " window%s are missing: the daemon lost, merged or "
			 "removed %s before",
			 n, text_plural(n), n == 1 ? "it" : "them");
}

/* Says once that the daemon does not answer. What has come before is kept. */
static void note_failure(struct periodic *p, const struct fault *why)
{
	if (!p->failed)
		text_say(stderr, "%s; the report waits for the daemon", why->text);
	p->failed = true;
}

/* -errno if there is no last report, or one cannot be written. */
static int report(struct periodic *p, bool last, struct fault *fault)
{
	struct report_span span = { p->from_us, 0 };
	struct fault why;
	int r = take_all(p, last, &why);

	if (r < 0 && !p->profile) {
		*fault = why;
		if (!last)
			note_failure(p, &why);
		return last ? r : 0;
	}
	p->failed = false;
	say_missed(p);
	p->from_us = span.until_us = clock_us(CLOCK_REALTIME);
	return report_write(&p->settings->report, p->source, TAKE_PTR(p->profile), span, fault);
}

/* Windows are merged as they age, and would be one with others that were reported. */
static void take_meanwhile(struct periodic *p)
{
	struct fault why;

	if (take(p, &why) < 0)
		note_failure(p, &why);
}

static int run(struct periodic *p, struct fault *fault)
{
	uint64_t next_us = clock_us(CLOCK_MONOTONIC), until_us;
	bool last = false;
	int r = 0;

	while (r >= 0 && !last) {
		/* periods that have passed meanwhile are part of this one */
		do
			next_us += p->settings->every_us;
		while (next_us <= clock_us(CLOCK_MONOTONIC));
		do {
			until_us = MIN(next_us, clock_us(CLOCK_MONOTONIC) + MAX_TAKE_US);
			last = wait_until(p->wait, until_us);
			if (!last && until_us < next_us)
				take_meanwhile(p);
		} while (!last && until_us < next_us);
		r = report(p, last, fault);
	}
	return r;
}

int periodic_run(const struct periodic_settings *settings, struct fault *fault)
{
	_cleanup_(periodic_done) struct periodic p = { .settings = settings };
	struct symbolizer_settings symbols = settings->symbols;
	int r;

	r = wait_new(&p.wait, settings->is_local ? settings->report.filter.pid : NULL, fault);
	if (r >= 0)
		r = periods_open(&p.periods, settings->socket, fault);
	if (r < 0)
		return r;
	p.from_us = clock_us(CLOCK_REALTIME);
	symbols.fetch = NULL; /* reports would wait for downloads */
	if (profile_source_new(&p.source, &symbols) < 0)
		return fault_set(fault, -ENOMEM, "out of memory");
	return run(&p, fault);
}
