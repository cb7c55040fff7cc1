/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The state of a recording, which recording.c and recording-state.c share. Nobody else sees it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/record/chunk.h"
#include "common/record/decoder.h"
#include "common/record/features.h"
#include "common/record/header.h"
#include "common/record/inflate.h"
#include "common/record/mapped-file.h"
#include "common/record/order.h"
#include "common/record/recording-info.h"

struct recording {
	char *path;
	bool force;
	struct mapped_file file;
	struct header header;
	struct features features;
	struct recording_info info;
	struct decoder *decoder;
	struct inflate *inflate; /* created with the first packed record */
	struct order *order;
	/* Of the sources, owned by the strings of @features; NULL until known. */
	const char **names;
	size_t n_names, cap_names;

	uint64_t at;             /* file offset of the next record */
	uint64_t ahead;          /* read ahead up to here */
	uint64_t packed_at;      /* and of the last packed one */
	bool inflating;          /* the packed record may hold more */
	bool finished;           /* no record is left in the file ... */
	bool drained;            /* ... and those that wait may all go out */
	uint64_t n_unknown;      /* records of unknown kinds, and samples of unknown events */
	size_t n_reported;       /* build-ids reported as events */
	struct chunk *unaligned; /* copies of unaligned records */
	struct waiting current;  /* the record of the event handed out last */

	struct recording_damage damage;
};

/* Gives every source a name; a better one may come with a later record. 0 or -ENOMEM. */
int recording_state_fill_names(struct recording *r);

/*
 * The @n_bytes at @offset are damaged: -EBADMSG and @fault; or with force 0, and the first damage
 * and all bytes lost are noted.
 */
int recording_state_note_damage(struct recording *r, uint64_t offset, uint64_t n_bytes,
				const char *what, struct fault *fault);

/* The same of the rest of the file, where reading ends. */
int recording_state_end_at_damage(struct recording *r, uint64_t offset, const char *what,
				  struct fault *fault);
