/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sampling as it should be: the sampler and its collector, begun, ended, and begun again some time
 * after they failed. What they hand over goes to the archive.
 */
#pragma once

#include <stdbool.h>

#include <systemd/sd-event.h>

#include "common/util/macro.h"
#include "daemon/api/status.h"
#include "daemon/archive/archive.h"
#include "daemon/binary/open-files.h"
#include "daemon/collector/collector.h"
#include "daemon/config.h"
#include "daemon/sampler/sampler.h"

struct sampling;

/* Borrows @archive and @open_files. @changed is called when sampling has begun or ended, or a
 * window was closed. */
int sampling_new(struct sampling **ret, sd_event *event, struct archive *archive,
		 struct open_files *open_files, void (*changed)(void *userdata), void *userdata);
/* Ends it, if it is not ended. */
struct sampling *sampling_free(struct sampling *sampling);
DEFINE_CLEANUP(struct sampling *, sampling_free);

/* Begins, or where it runs already by other settings begins anew. That it cannot is a state,
 * logged. */
void sampling_begin(struct sampling *sampling, const struct config *config);

/*
 * Ends for good; the unfinished window has been handed to the archive when this returns, and what
 * could not be stored was told in the journal.
 */
void sampling_end(struct sampling *sampling);

/* Asks for a part of the open window. */
void sampling_request_part(struct sampling *sampling);

/* Writes what is sampled how, "cycles at 99 Hz, mode branch", into @ret of @n bytes. */
void sampling_describe(const struct sampling *sampling, char *ret, size_t n);

void sampling_get_status(const struct sampling *sampling, struct status *status);
