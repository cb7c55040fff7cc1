/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the sampler does with each mapping, whether the kernel or the scan of /proc reports it: the
 * vDSO gets its build-id, a file is announced to the namer. No file is opened here.
 */
#pragma once

#include "common/object/build-id.h"
#include "common/record/event.h"
#include "daemon/sampler/mapped-files.h"

struct mappings {
	struct build_id vdso;       /* of 64-bit processes */
	struct mapped_files *files; /* or NULL: nobody wants them */
};

void mappings_init(struct mappings *mappings);

/* Completes @mapping of process @pid, and announces it. */
void mappings_note(const struct mappings *mappings, int32_t pid, struct mapping_event *mapping);

/* Wakes the namer for those that were announced since. */
void mappings_tell(const struct mappings *mappings);
