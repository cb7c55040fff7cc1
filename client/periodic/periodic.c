/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/periodic/periodic.h"

#include <errno.h>
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

struct periodic {
	const struct periodic_settings *settings;
	struct periods *periods;
	struct profile_source *source;
	struct wait *wait;
	uint64_t from_us;
	bool failed; /* the last period, and it was said */
};

static void periodic_done(struct periodic *p)
{
	periods_free(p->periods);
	profile_source_free(p->source);
	wait_free(p->wait);
}

/* What the next call has is added to @profile. */
static int add_next(struct periodic *p, struct profile **profile, struct fault *fault)
{
	_cleanup_(profile_freep) struct profile *before = TAKE_PTR(*profile), *more = NULL;
	int r = periods_next(p->periods, &more, fault);

	if (r < 0) {
		*profile = TAKE_PTR(before);
		return r;
	}
	if (profile_merge(profile, (const struct profile *[]){ before, more }, 2) < 0)
		return fault_set(fault, -ENOMEM, "out of memory");
	return 0;
}

/* Waits for a window that has just ended: the last report longer, the others have a next one. */
static int take(struct periodic *p, bool last, struct profile **ret, struct fault *fault)
{
	uint64_t until_us = clock_us(CLOCK_MONOTONIC);
	int r = periods_next(p->periods, ret, fault);

	until_us += last ? MAX_WAIT_US : MIN(p->settings->every_us / 4, MAX_WAIT_US);
	while (r >= 0 && periods_is_behind(p->periods) && clock_us(CLOCK_MONOTONIC) < until_us) {
		usleep(PAUSE_US);
		r = add_next(p, ret, fault);
	}
	return r;
}

/* -errno if the report cannot be written. */
static int report(struct periodic *p, bool last, struct fault *fault)
{
	struct profile *profile = NULL;
	struct report_span span = { p->from_us, 0 };
	struct fault why;

	if (take(p, last, &profile, &why) < 0) {
		if (!p->failed)
			text_say(stderr, "%s; the report waits for the daemon", why.text);
		p->failed = true;
		profile_free(profile);
		return 0;
	}
	p->failed = false;
	p->from_us = span.until_us = clock_us(CLOCK_REALTIME);
	return report_write(&p->settings->report, p->source, profile, span, fault);
}

static int run(struct periodic *p, struct fault *fault)
{
	uint64_t next_us = clock_us(CLOCK_MONOTONIC);
	bool last = false;
	int r = 0;

	while (r >= 0 && !last) {
		/* periods that have passed meanwhile are part of this one */
		do
			next_us += p->settings->every_us;
		while (next_us <= clock_us(CLOCK_MONOTONIC));
		last = wait_until(p->wait, next_us);
		r = report(p, last, fault);
	}
	return r;
}

int periodic_run(const struct periodic_settings *settings, struct fault *fault)
{
	_cleanup_(periodic_done) struct periodic p = { .settings = settings };
	int r;

	r = wait_new(&p.wait, settings->is_local ? settings->report.filter.pid : NULL, fault);
	if (r >= 0)
		r = periods_open(&p.periods, settings->socket, fault);
	if (r < 0)
		return r;
	p.from_us = clock_us(CLOCK_REALTIME);
	if (profile_source_new(&p.source, &settings->symbols) < 0)
		return fault_set(fault, -ENOMEM, "out of memory");
	return run(&p, fault);
}
