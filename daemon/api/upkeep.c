/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/api/upkeep.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "common/json/json-text.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/api/error-reply.h"
#include "daemon/api/job.h"
#include "daemon/store/vacuum.h"
#include "daemon/store/verify.h"
#include "daemon/varlink/parameters.h"

#define MIN_REST_US 1000
#define LOG_REST_US 20000 /* while the log is copied */

struct upkeep {
	sd_event *event;
	struct store *store;

	struct call *vacuum_call; /* NULL: nobody vacuums */
	struct store_vacuum vacuum;
	sd_event_source *vacuum_timer;

	struct call *verify_call;    /* NULL: its caller has gone */
	struct store_verify *verify; /* NULL: nobody verifies */
	struct fault verify_fault;
	struct job verify_job;
	sd_event_source *verify_timer;
};

int upkeep_new(struct upkeep **ret, sd_event *event, struct store *store)
{
	struct upkeep *upkeep = calloc(1, sizeof(*upkeep));

	if (!upkeep)
		return -ENOMEM;
	upkeep->event = event;
	upkeep->store = store;
	*ret = upkeep;
	return 0;
}

struct upkeep *upkeep_free(struct upkeep *upkeep)
{
	if (!upkeep)
		return NULL;
	sd_event_source_disable_unref(upkeep->vacuum_timer);
	sd_event_source_disable_unref(upkeep->verify_timer);
	if (upkeep->verify)
		store_verify_stop(upkeep->verify);
	job_cancel(&upkeep->verify_job);
	store_verify_free(upkeep->verify);
	free(upkeep);
	return NULL;
}

static bool is_refused(struct call *call, bool busy)
{
	if (!call_is_privileged(call))
		call_error(call, "org.varlink.service.PermissionDenied", NULL);
	else if (busy)
		call_error(call, "io.branchd.Busy", NULL);
	else
		return false;
	return true;
}

static void end_vacuum(struct upkeep *upkeep)
{
	upkeep->vacuum_timer = sd_event_source_disable_unref(upkeep->vacuum_timer);
	upkeep->vacuum_call = NULL;
}

static void reply_vacuum(struct upkeep *upkeep, int r, const struct fault *fault)
{
	const struct store_vacuum *vacuum = &upkeep->vacuum;
	struct call *call = upkeep->vacuum_call;
	uint64_t freed = vacuum->bytes_before - MIN(vacuum->bytes_before, vacuum->bytes_after);

	end_vacuum(upkeep);
	if (r < 0)
		error_reply(call, r, fault);
	else if (call_reply(call,
			    json_pack("{sI sI sI}", "windows", (json_int_t)vacuum->n_removed,
				      "freed_bytes", (json_int_t)freed, "bytes",
				      (json_int_t)vacuum->bytes_after),
			    false) < 0)
		call_internal_error(call, -ENOMEM);
}

static int rest(struct upkeep *upkeep, uint64_t us)
{
	int r = sd_event_source_set_time_relative(upkeep->vacuum_timer, us);

	return r < 0 ? r : sd_event_source_set_enabled(upkeep->vacuum_timer, SD_EVENT_ONESHOT);
}

static int on_vacuum(sd_event_source *source, uint64_t now_us, void *userdata)
{
	struct upkeep *upkeep = userdata;
	uint64_t since_us = clock_us(CLOCK_MONOTONIC);
	struct fault fault = {};
	int r = store_vacuum_step(upkeep->store, &upkeep->vacuum, &fault);

	if (r == 2)
		return rest(upkeep, LOG_REST_US);
	if (r > 0)
		return rest(upkeep,
			    MAX(clock_us(CLOCK_MONOTONIC) - since_us, (uint64_t)MIN_REST_US));
	reply_vacuum(upkeep, r, &fault);
	return 0;
}

static void on_vacuum_gone(struct call *call, void *userdata)
{
	end_vacuum(userdata);
}

int upkeep_vacuum(struct upkeep *upkeep, struct call *call)
{
	int64_t max_bytes = -1, keep_us = -1;
	const struct parameter parameters[] = {
		{ "max_bytes", NULL, &max_bytes },
		{ "keep_us", NULL, &keep_us },
	};
	int r;

	if (!parameters_read(call, parameters, ARRAY_SIZE(parameters)) ||
	    is_refused(call, upkeep->vacuum_call))
		return 0;
	if (max_bytes == 0 || keep_us == 0 || (max_bytes < 0 && keep_us < 0)) {
		call_invalid_parameter(call, keep_us == 0 ? "keep_us" : "max_bytes");
		return 0;
	}
	r = sd_event_add_time_relative(upkeep->event, &upkeep->vacuum_timer, CLOCK_MONOTONIC, 0, 0,
				       on_vacuum, upkeep);
	if (r >= 0)
		r = sd_event_source_set_priority(upkeep->vacuum_timer, SD_EVENT_PRIORITY_IDLE);
	if (r < 0) {
		end_vacuum(upkeep);
		return r;
	}
	upkeep->vacuum = (struct store_vacuum){
		.request = { .max_bytes = (uint64_t)MAX(max_bytes, (int64_t)0),
			     .keep_us = (uint64_t)MAX(keep_us, (int64_t)0) },
	};
	upkeep->vacuum_call = call;
	call_on_gone(call, on_vacuum_gone, upkeep);
	return 0;
}

static json_t *problems_json(const struct problems *problems)
{
	json_t *list = json_array();

	for (size_t i = 0; i < problems->n; i++) {
		const struct problem *row = &problems->rows[i];

		if (json_array_append_new(list, json_pack("{so so}", "where", json_text(row->where),
							  "what", json_text(row->what))) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static void reply_verify(struct upkeep *upkeep, struct call *call, int r)
{
	const struct store_verified *verified = store_verify_get(upkeep->verify);

	if (r < 0)
		error_reply(call, r, &upkeep->verify_fault);
	else if (call_reply(call,
			    json_pack("{sI sI sb sI so}", "windows",
				      (json_int_t)verified->n_windows, "bytes",
				      (json_int_t)verified->n_bytes, "whole", verified->whole,
				      "found", (json_int_t)verified->problems.n_all, "problems",
				      problems_json(&verified->problems)),
			    false) < 0)
		call_internal_error(call, -ENOMEM);
}

static int verify_work(void *userdata)
{
	struct upkeep *upkeep = userdata;

	return store_verify_work(upkeep->verify, &upkeep->verify_fault);
}

static void on_verified(void *userdata, int result, uint64_t cpu_ns)
{
	struct upkeep *upkeep = userdata;
	struct call *call = TAKE_PTR(upkeep->verify_call);

	upkeep->verify_timer = sd_event_source_disable_unref(upkeep->verify_timer);
	if (call)
		reply_verify(upkeep, call, result);
	upkeep->verify = store_verify_free(upkeep->verify);
}

static int on_verify_time(sd_event_source *source, uint64_t now_us, void *userdata)
{
	struct upkeep *upkeep = userdata;

	store_verify_stop(upkeep->verify);
	return 0;
}

static void on_verify_gone(struct call *call, void *userdata)
{
	struct upkeep *upkeep = userdata;

	upkeep->verify_call = NULL;
	store_verify_stop(upkeep->verify);
}

static int start_verify(struct upkeep *upkeep)
{
	int r;

	r = sd_event_add_time_relative(upkeep->event, &upkeep->verify_timer, CLOCK_MONOTONIC,
				       UPKEEP_MAX_VERIFY_US, 0, on_verify_time, upkeep);
	if (r < 0)
		return r;
	upkeep->verify_job = (struct job){
		.work = verify_work,
		.done = on_verified,
		.userdata = upkeep,
	};
	return job_start(&upkeep->verify_job, upkeep->event);
}

int upkeep_verify(struct upkeep *upkeep, struct call *call)
{
	struct fault fault = {};
	int r;

	if (!parameters_read(call, NULL, 0) || is_refused(call, upkeep->verify))
		return 0;
	r = store_verify_new(&upkeep->verify, upkeep->store, &fault);
	if (r > 0)
		r = start_verify(upkeep);
	else if (r == 0) /* it is in memory alone */
		r = -EOPNOTSUPP;
	if (r < 0) {
		upkeep->verify_timer = sd_event_source_disable_unref(upkeep->verify_timer);
		upkeep->verify = store_verify_free(upkeep->verify);
		error_reply(call, r, &fault);
		return 0;
	}
	upkeep->verify_call = call;
	call_on_gone(call, on_verify_gone, upkeep);
	return 0;
}
