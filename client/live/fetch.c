/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/live/fetch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/rpc/daemon-api.h"
#include "client/source/recent-profile.h"
#include "client/source/window-ref.h"
#include "client/top/function-shares.h"
#include "common/profile/tables.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"

#define N_PARTS  24 /* of trends: the most that the daemon counts */
#define N_POINTS 24 /* of a history */
#define N_FIRSTS 2  /* answers before whole windows */

/* What the daemon counted of the closed windows: it is asked once for each. */
struct counted {
	int64_t first, last;
	enum view_by by;
	char filter[LIVE_FILTER_MAX];
	struct functions *functions;
};

struct live_fetch {
	const char *socket;
	const struct symbolizer_settings *symbols;
	struct recent_profile *recent;
	unsigned int n_firsts; /* answers that came before it */
	struct counted counted;
};

void live_request_init(struct live_request *ret, const struct live_state *state)
{
	const struct live_screen *screen = &state->screens[state->depth];

	memset(ret, 0, sizeof(*ret));
	ret->kind = screen->kind;
	strcpy(ret->span, state->span);
	strcpy(ret->filter, screen->filter);
	if (screen->kind == LIVE_ROWS)
		ret->by = screen->by;
	else if (screen->kind != LIVE_CALLS) /* which is made of the stacks of all */
		ret->subject = screen->subject;
}

void live_result_done(struct live_result *result)
{
	annotation_free(result->annotation);
	if (result->span)
		code_span_done(result->span);
	free(result->span);
	history_free(result->history);
	trends_free(result->trends);
	profile_source_free(result->source);
	profile_free(result->profile);
	windows_done(&result->windows);
	*result = (struct live_result){};
}

int live_fetch_open(struct live_fetch **ret, const char *socket,
		    const struct symbolizer_settings *symbols, struct fault *fault)
{
	_cleanup_(live_fetch_freep) struct live_fetch *fetch = calloc(1, sizeof(*fetch));
	int r;

	if (!fetch)
		return fault_set(fault, -ENOMEM, "out of memory");
	fetch->socket = socket;
	fetch->symbols = symbols;
	r = recent_profile_open(&fetch->recent, socket, fault);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(fetch);
	return 0;
}

struct live_fetch *live_fetch_free(struct live_fetch *fetch)
{
	if (!fetch)
		return NULL;
	recent_profile_free(fetch->recent);
	functions_free(fetch->counted.functions);
	free(fetch);
	return NULL;
}

void live_fetch_interrupt(struct live_fetch *fetch)
{
	recent_profile_interrupt(fetch->recent);
}

/* One request, and what it takes. */
struct job {
	struct live_fetch *fetch;
	const struct live_request *request;
	struct live_filter filter;
	struct connection *connection;
	struct live_result *result;
};

static int get_stored_code(const struct profile_object *object, uint64_t start, void *ret, size_t n,
			   uint16_t *ret_machine, void *userdata)
{
	const struct job *job = userdata;
	struct daemon_api_code code = { .bytes = ret, .n = n };
	struct fault ignored;
	int r = daemon_api_get_code(job->connection, object, start, &code, &ignored);

	if (r <= 0)
		return r == -ENOMEM ? r : 0;
	*ret_machine = code.machine;
	return r;
}

/* Of the source of the result. */
static int annotate(struct job *job)
{
	struct live_result *result = job->result;
	const struct profile_function *function =
		live_subject_find(&job->request->subject, result->source->shown);
	struct location at;
	int r;

	if (!job->request->subject.symbol[0])
		return fault_set(&result->fault, -ENOENT,
				 "code without symbols: branchctl annotate OBJECT:0xADDRESS shows "
				 "its instructions");
	if (!function)
		return fault_set(&result->fault, -ENOENT, "no samples of it in this span");
	at = (struct location){ function->object, function->start };
	result->span = calloc(1, sizeof(*result->span));
	r = result->span ? code_span_of_function(result->span, result->source, at) : -ENOMEM;
	if (r >= 0)
		r = annotation_new(&result->annotation, result->source, result->span,
				   get_stored_code, job);
	return r < 0 ? fault_set(&result->fault, r, "%s", strerror(-r)) : 0;
}

/* The profile of the last five minutes becomes a source of its own. */
static int annotate_recent(struct job *job)
{
	struct live_result *result = job->result;
	int r = profile_source_new(&result->source, job->fetch->symbols);

	if (r >= 0)
		r = profile_source_replace(result->source, TAKE_PTR(result->profile),
					   &result->windows, &job->filter.profile);
	return r < 0 ? fault_set(&result->fault, r, "%s", strerror(-r)) : annotate(job);
}

static bool is_counted(const struct counted *counted, const struct counted *wanted)
{
	return counted->functions && counted->first == wanted->first &&
	       counted->last == wanted->last && counted->by == wanted->by &&
	       strcmp(counted->filter, wanted->filter) == 0;
}

/* 0, or -errno without a fault. */
static int count(struct job *job, const struct counted *wanted, size_t n_parts,
		 enum functions_by by)
{
	struct profile_filter processes = job->filter.profile;
	const struct daemon_api_request request = {
		.first = wanted->first,
		.last = wanted->last,
		.filter = &processes,
		.n_parts = n_parts,
		.by = by,
	};
	_cleanup_(windows_done) struct windows windows = {};
	struct counted *counted = &job->fetch->counted;
	struct fault ignored;

	processes.object = processes.symbol = NULL;
	functions_free(counted->functions);
	*counted = *wanted;
	return daemon_api_get_functions(job->connection, &request, &counted->functions, &windows,
					&ignored);
}

/* What the daemon counts is that of all code: only functions stay what they are in some of it. */
static bool has_trends(const struct job *job)
{
	const struct profile_filter *filter = &job->filter.profile;

	return job->request->by == VIEW_FUNCTION || (!filter->object && !filter->symbol);
}

/* Without them, rows have no trend: an older daemon does not count. */
static int get_trends(struct job *job, const struct windows *windows)
{
	const struct counted *counted = &job->fetch->counted;
	struct counted wanted = { .by = job->request->by };
	size_t n = windows_n_closed(windows);
	enum functions_by by;
	int r = 0;

	if (n < 2 || !has_trends(job) || !function_shares_suffice(wanted.by, &by))
		return 0;
	wanted.first = windows->rows[0].id;
	wanted.last = windows->rows[n - 1].id;
	strcpy(wanted.filter, job->request->filter);
	if (!is_counted(counted, &wanted))
		r = count(job, &wanted, MIN(n, (size_t)N_PARTS), by);
	return r < 0 ? 0 : trends_new(&job->result->trends, wanted.by, counted->functions);
}

static int get_recent(struct job *job)
{
	struct live_result *result = job->result;
	int r = recent_profile_fetch(job->fetch->recent, clock_us(CLOCK_REALTIME), &result->profile,
				     &result->windows, &result->fault);

	if (r < 0)
		return r;
	if (job->request->kind == LIVE_CODE)
		return annotate_recent(job);
	return job->request->kind == LIVE_ROWS ? get_trends(job, &result->windows) : 0;
}

/* Whether no window can be added to the span. */
static bool is_over(const struct window_ref *ref, uint64_t now_us)
{
	uint64_t since, until, n_newest;

	window_ref_span(ref, &since, &until, &n_newest);
	return until < now_us;
}

/* The tables of a profile that the rows take; 0: all. See options_top_tables(). */
static unsigned int tables_of(const struct job *job)
{
	if (job->request->kind == LIVE_CODE)
		return 0;
	if (job->request->kind == LIVE_ROWS &&
	    (job->request->by == VIEW_STREAM || job->request->by == VIEW_BRANCH ||
	     job->request->by == VIEW_BRANCH_SITE || job->request->by == VIEW_BLOCK))
		return 0;
	return profile_filter_tables(&job->filter.profile, PROFILE_TABLE(PROFILE_STACKS));
}

static bool counts_suffice(const struct job *job, enum functions_by *ret)
{
	const struct profile_filter *filter = &job->filter.profile;

	return job->request->kind == LIVE_ROWS && !filter->object && !filter->symbol &&
	       function_shares_suffice(job->request->by, ret);
}

/* After these errors the daemon still answers. */
static bool is_answer(int r)
{
	return r == -ENOENT || r == -ENODATA || r == -EINVAL || r == -EREMOTEIO || r == -EOPNOTSUPP;
}

static int get_span(struct job *job, const struct window_ref *ref)
{
	const struct live_request *request = job->request;
	struct live_result *result = job->result;
	struct profile_source_settings settings = {
		.window = request->span[0] ? request->span : NULL,
		.now_us = ref->now_us,
		.filter = job->filter.profile,
		.symbols = *job->fetch->symbols,
		.socket = job->fetch->socket,
		.connection = job->connection,
		.tables = tables_of(job),
	};
	int r;

	settings.counts = counts_suffice(job, &settings.by);
	settings.n_parts = settings.counts && request->span[0] ? N_PARTS : 0;
	r = profile_source_open(&result->source, &settings, &result->fault);
	result->is_no_span = r < 0 && is_answer(r);
	if (r < 0)
		return r;
	if (request->kind == LIVE_CODE)
		return annotate(job);
	if (result->source->functions && result->source->functions->n_parts > 1)
		return trends_new(&result->trends, request->by, result->source->functions);
	return 0;
}

/*
 * The rows, while the windows themselves are yet to be fetched: first alone, then with their
 * trends, which take longer. False: the windows have to be.
 */
static bool get_first(struct job *job, const struct window_ref *ref)
{
	struct live_result *result = job->result;
	unsigned int n = job->fetch->n_firsts++;
	enum functions_by by;

	if (n >= N_FIRSTS || !counts_suffice(job, &by))
		return false;
	if (get_span(job, ref) < 0 || (n > 0 && get_trends(job, &result->source->windows) < 0)) {
		live_result_done(result);
		return false;
	}
	result->is_first = true;
	return true;
}

/* Of the last day, unless a span was chosen. */
static int get_history(struct job *job)
{
	const struct live_request *request = job->request;
	struct history_settings settings = {
		.source = {
			.window = request->span[0] ? request->span : NULL,
			.now_us = clock_us(CLOCK_REALTIME),
			.filter = job->filter.profile,
			.socket = job->fetch->socket,
			.connection = job->connection,
		},
		.n_points = N_POINTS,
	};
	int r;

	settings.source.filter.object = request->subject.object;
	settings.source.filter.symbol = request->subject.symbol[0] ? request->subject.symbol : NULL;
	history_default_span(&settings.source);
	r = history_new(&job->result->history, &settings, &job->result->fault);
	job->result->is_no_span = r < 0 && is_answer(r);
	return r;
}

static int parse_span(struct window_ref *ret, const char *span, struct fault *fault)
{
	int r = window_ref_parse(ret, span[0] ? span : NULL, clock_us(CLOCK_REALTIME), fault);

	if (r >= 0 && ret->kind == WINDOW_REF_RECORDING)
		return fault_set(fault, -EINVAL, "'%s' is a file: see branchctl top %s", span,
				 span);
	return r;
}

static int get(struct job *job)
{
	struct live_result *result = job->result;
	struct fault *fault = &result->fault;
	struct window_ref ref;
	int r;

	r = live_filter_parse(&job->filter, job->request->filter, fault);
	if (r < 0)
		return r;
	r = parse_span(&ref, job->request->span, fault);
	result->is_no_span = r < 0;
	if (r < 0)
		return r;
	r = recent_profile_connect(job->fetch->recent, &job->connection, fault);
	result->is_lost = r < 0;
	if (r < 0)
		return r;
	result->is_fixed = ref.kind != WINDOW_REF_RECENT && is_over(&ref, ref.now_us);
	if (job->request->kind == LIVE_HISTORY)
		return get_history(job);
	if (ref.kind != WINDOW_REF_RECENT)
		return get_span(job, &ref);
	return get_first(job, &ref) ? 0 : get_recent(job);
}

void live_fetch_get(struct live_fetch *fetch, const struct live_request *request,
		    struct live_result *ret)
{
	struct job job = { .fetch = fetch, .request = request, .result = ret };

	*ret = (struct live_result){};
	ret->r = get(&job);
	if (ret->r >= 0) {
		ret->r = 1;
		return;
	}
	if (!ret->fault.text[0])
		fault_set(&ret->fault, ret->r, "%s", strerror(-ret->r));
	ret->is_lost |= !is_answer(ret->r);
	if (ret->is_lost)
		recent_profile_disconnect(fetch->recent);
}
