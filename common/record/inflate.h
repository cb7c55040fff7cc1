/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Unpacks what `perf record -z` packed: COMPRESSED records hold pieces of one zstd stream, in which
 * a record may begin in one piece and end in a later one.
 */
#pragma once

#include <linux/perf_event.h>

#include "common/record/chunk.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct inflate;

int inflate_new(struct inflate **ret);
struct inflate *inflate_free(struct inflate *inflate);
DEFINE_CLEANUP(struct inflate *, inflate_free);

/* Gives it the next piece, which stays where it is until inflate_next() has returned 0. */
void inflate_feed(struct inflate *inflate, const void *p, size_t n, uint64_t file_offset);

/*
 * The next whole record: 1, *@ret and the chunk it lies in, with a reference for the caller. 0 when
 * the piece is used up; -EBADMSG and @fault where it is no sound stream; -ENOMEM.
 */
int inflate_next(struct inflate *inflate, const struct perf_event_header **ret,
		 struct chunk **ret_chunk, struct fault *fault);

/* Bytes of a record begun and not ended; not 0 at the end of a recording means it was cut off. */
size_t inflate_n_left(const struct inflate *inflate);
