/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Runs the sampler, its collector and the namer, restarts them some time after a failure, and hands
 * their windows to the archive.
 */
#pragma once

#include <stdbool.h>

#include <systemd/sd-event.h>

#include "common/util/macro.h"
#include "daemon/api/status.h"
#include "daemon/archive/archive.h"
#include "daemon/collector/collector.h"
#include "daemon/config.h"
#include "daemon/helpers/helpers.h"
#include "daemon/sampler/sampler.h"
#include "daemon/unwind/table-cache.h"

struct sampling;

/* All are borrowed. */
struct sampling_settings {
	struct archive *archive;
	struct helpers *helpers;    /* NULL: no file is opened */
	struct kept_files *tables;  /* NULL: unwind tables are not kept */
	struct kept_files *symbols; /* of the kernel; likewise */
	/* Called when sampling has begun or ended, or when a window was closed. */
	void (*changed)(void *userdata);
	void *userdata;
};

int sampling_new(struct sampling **ret, sd_event *event, const struct sampling_settings *settings);
/* Ends sampling first, if it runs. */
struct sampling *sampling_free(struct sampling *sampling);
DEFINE_CLEANUP(struct sampling *, sampling_free);

/* Begins sampling, or restarts it if the settings have changed. A failure is logged, and a state.
 */
void sampling_begin(struct sampling *sampling, const struct config *config);

/*
 * Ends sampling for good. When it returns, the archive has the unfinished window, and windows that
 * could not be stored are logged.
 */
void sampling_end(struct sampling *sampling);

/* Whether processes that start and exit within a window from now on stay apart. */
void sampling_keep_processes(struct sampling *sampling, bool keep);

/* Requests a part of the open window. */
void sampling_request_part(struct sampling *sampling);

/* Writes the way of sampling, "cycles at 99 Hz, mode branch", into @ret of @n bytes. */
void sampling_describe(const struct sampling *sampling, char *ret, size_t n);

/* True, and when the collector began its last turn (CLOCK_MONOTONIC); false: nothing is sampled. */
bool sampling_get_turn(const struct sampling *sampling, uint64_t *ret_us);

void sampling_get_status(const struct sampling *sampling, struct status *status);
