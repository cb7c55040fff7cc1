/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/cli/run-reports.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/periodic/periods.h"
#include "client/periodic/report.h"
#include "client/source/profile-source.h"
#include "client/term/text.h"
#include "common/profile/subtract.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"

struct run_reports {
	const struct options *options;
	struct periods *periods; /* of the daemon; NULL: the command is recorded */
	struct profile *before;  /* of a recording, what was reported; NULL: nothing */
	struct profile_source *source;
	uint64_t from_us;
};

struct run_reports *run_reports_free(struct run_reports *reports)
{
	if (!reports)
		return NULL;
	periods_free(reports->periods);
	profile_free(reports->before);
	profile_source_free(reports->source);
	free(reports);
	return NULL;
}

int run_reports_new(struct run_reports **ret, const struct options *options, bool by_daemon,
		    struct fault *fault)
{
	_cleanup_(run_reports_freep) struct run_reports *reports = NULL;
	int r = 0;

	*ret = NULL;
	if (options->every_us == 0)
		return 0;
	reports = calloc(1, sizeof(*reports));
	if (!reports)
		return fault_set(fault, -ENOMEM, "out of memory");
	reports->options = options;
	if (by_daemon)
		r = periods_open(&reports->periods, options->source.socket, fault);
	if (r < 0)
		return r;
	reports->from_us = clock_us(CLOCK_REALTIME);
	*ret = TAKE_PTR(reports);
	return 0;
}

/* The recording has all that was sampled, so what was reported is left out. */
static int take_recorded(struct run_reports *reports, struct launch *launch, struct profile **ret,
			 struct fault *fault)
{
	_cleanup_(profile_freep) struct profile *now = NULL;
	struct profile_source_settings settings = reports->options->source;
	int r = recorder_pause(launch->recorder, &settings.window, fault);

	if (r < 0)
		return r;
	settings.symbols.fetch = NULL; /* the recording would wait for downloads */
	reports->source = profile_source_free(reports->source);
	r = profile_source_open(&reports->source, &settings, fault);
	if (r < 0)
		return r;
	if (profile_merge(&now, (const struct profile *[]){ reports->source->profile }, 1) < 0)
		return fault_set(fault, -ENOMEM, "out of memory");
	r = reports->before ? profile_subtract(ret, now, reports->before) :
			      profile_merge(ret, (const struct profile *[]){ now }, 1);
	if (r < 0)
		return fault_set(fault, r, "out of memory");
	profile_free(reports->before);
	reports->before = TAKE_PTR(now);
	return 0;
}

static int take_sampled(struct run_reports *reports, struct profile **ret, struct fault *fault)
{
	struct symbolizer_settings symbols = reports->options->source.symbols;
	int r = 0;

	symbols.fetch = NULL;
	if (!reports->source)
		r = profile_source_new(&reports->source, &symbols);
	return r < 0 ? fault_set(fault, r, "out of memory") :
		       periods_next(reports->periods, ret, fault);
}

/* What cannot be had now is in the next report; the command goes on. */
static int write_report(struct launch *launch, void *userdata, struct fault *fault)
{
	struct run_reports *reports = userdata;
	const struct options *options = reports->options;
	struct report_settings settings = {
		.top = { .by = VIEW_FUNCTION, .n_rows = options->top.n_rows },
		.percent_limit = -1,
		.output = options->output,
	};
	struct report_span span = { .from_us = reports->from_us };
	struct profile *profile = NULL;
	struct fault why;
	int r;

	r = reports->periods ? take_sampled(reports, &profile, &why) :
			       take_recorded(reports, launch, &profile, &why);
	if (r < 0) {
		text_say(stderr, "no report: %s", why.text);
		return 0;
	}
	if (reports->periods)
		settings.filter = (struct profile_filter){
			.chosen = family_has,
			.chosen_of = launch->family,
		};
	reports->from_us = span.until_us = clock_us(CLOCK_REALTIME);
	return report_write(&settings, reports->source, profile, span, fault);
}

struct launch_reports run_reports_launch(struct run_reports *reports)
{
	return (struct launch_reports){
		.every_us = reports ? reports->options->every_us : 0,
		.write = write_report,
		.userdata = reports,
	};
}
