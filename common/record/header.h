/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The head of a recording: which shape it has, where its records lie, and the attrs and feature
 * sections of a file in normal mode (in pipe mode they come as records).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/record/decoder.h"
#include "common/record/features.h"
#include "common/record/mapped-file.h"

struct header {
	bool pipe;
	uint64_t data_start, data_end; /* file offsets of the records */
	uint64_t n_bytes_missing;      /* with force: what the file is too short by, if it says */
};

/*
 * Checks the first bytes of @file and finds its records. -EBADMSG and @fault, which gives the
 * offset and does not name the file. With @force records that end before the header says are taken
 * as far as they go; what was wrong stands in @fault, which is empty otherwise.
 */
int header_read(struct header *ret, const struct mapped_file *file, bool force,
		struct fault *fault);

/* Normal mode: the perf events recorded, added to @decoder. */
int header_read_attrs(const struct mapped_file *file, struct decoder *decoder, struct fault *fault);

/* Normal mode: the feature sections. Those that lie outside the file are -EBADMSG. */
int header_read_features(const struct mapped_file *file, struct features *features,
			 struct fault *fault);

/*
 * Takes a perf_event_attr of @n bytes or fewer, as it says itself, from @p. 0, or -EBADMSG if it is
 * none.
 */
int header_read_attr(struct perf_event_attr *ret, const void *p, size_t n, struct fault *fault);
