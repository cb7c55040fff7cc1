/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/rows/count-slot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "daemon/rows/byte-writer.h"
#include "daemon/rows/function-blob.h"

struct count_slot *count_slot_free(struct count_slot *slot)
{
	if (!slot)
		return NULL;
	free(slot->rows);
	free(slot->executables);
	profile_free(slot->head);
	free(slot);
	return NULL;
}

size_t count_slot_bytes(const struct count_slot *slot)
{
	return sizeof(*slot) + slot->n_bytes + slot->n_executables * sizeof(*slot->executables) +
	       profile_bytes(slot->head);
}

static void swap_seen(struct function_sum *sum, struct function_recording *recording)
{
	struct id_set seen = sum->seen, executables = sum->seen_executables;

	sum->seen = recording->seen;
	sum->seen_executables = recording->seen_executables;
	recording->seen = seen;
	recording->seen_executables = executables;
}

int count_slot_begin(struct function_sum *sum)
{
	struct function_recording *recording = calloc(1, sizeof(*recording));
	int r = recording ? profile_new(&recording->head) : -ENOMEM;

	if (r < 0) {
		free(recording);
		return r;
	}
	recording->n_profiles = sum->n_profiles;
	swap_seen(sum, recording);
	sum->recording = recording;
	return 0;
}

int count_slot_reserve(struct function_sum *sum)
{
	struct function_recording *recording = sum->recording;
	size_t n = recording->n_rows;

	if (ARRAY_RESERVE(&recording->rows, &recording->cap_rows, sum->n_rows) < 0)
		return -ENOMEM;
	if (sum->n_rows > n)
		memset(&recording->rows[n], 0, (sum->n_rows - n) * sizeof(*recording->rows));
	recording->n_rows = sum->n_rows;
	return 0;
}

int count_slot_note_executable(struct function_sum *sum, int64_t string)
{
	struct function_recording *recording = sum->recording;

	if (ARRAY_RESERVE(&recording->executables, &recording->cap_executables,
			  recording->n_executables + 1) < 0)
		return -ENOMEM;
	recording->executables[recording->n_executables++] = string;
	return 0;
}

static unsigned int flags_of(const struct function_sum_row *row, const struct recorded_row *counted)
{
	const struct function_tally *t = &counted->tally;

	return (row->kind == SUM_OBJECT ? SLOT_IS_OBJECT : 0) |
	       (t->calls > 0 || t->runs > 0 || t->timed_runs > 0 || t->cycles > 0 ? SLOT_HAS_RUNS :
										    0) |
	       (t->variance > 0 ? SLOT_HAS_VARIANCE : 0) | (row->is_gone ? SLOT_IS_GONE : 0) |
	       (counted->n_gone > 0 ? SLOT_HAS_GONE : 0);
}

static void put_row(struct byte_writer *bytes, int64_t step, unsigned int flags,
		    const struct recorded_row *row)
{
	const struct function_tally *t = &row->tally;

	byte_writer_put(bytes, (uint64_t)step << 1 ^ (uint64_t)(step >> 63));
	byte_writer_put(bytes, flags);
	byte_writer_put(bytes, t->self);
	byte_writer_put(bytes, t->total);
	if (flags & SLOT_HAS_VARIANCE)
		byte_writer_put(bytes, t->variance);
	if (flags & SLOT_HAS_RUNS) {
		byte_writer_put(bytes, t->calls);
		byte_writer_put(bytes, t->runs);
		byte_writer_put(bytes, t->timed_runs);
		byte_writer_put(bytes, t->cycles);
	}
	if (flags & SLOT_HAS_GONE)
		byte_writer_put(bytes, row->n_gone);
}

/* Takes what was recorded. 0 or -ENOMEM. */
static int pack(struct count_slot *slot, const struct function_sum *sum,
		struct function_recording *recording)
{
	struct byte_writer bytes = { 0 };
	int64_t before = 0;

	for (size_t i = 0; i < recording->n_rows; i++) {
		const struct recorded_row *counted = &recording->rows[i];
		const struct function_sum_row *row = &sum->rows[i];

		if (!counted->found)
			continue;
		put_row(&bytes, row->id - before, flags_of(row, counted), counted);
		before = row->id;
	}
	slot->rows = bytes.data;
	slot->n_bytes = bytes.n;
	slot->executables = TAKE_PTR(recording->executables);
	slot->n_executables = recording->n_executables;
	slot->head = TAKE_PTR(recording->head);
	slot->first = recording->first;
	slot->last = recording->last;
	return bytes.failed ? -ENOMEM : 0;
}

int count_slot_end(struct function_sum *sum, struct count_slot **ret)
{
	_cleanup_(count_slot_freep) struct count_slot *slot = calloc(1, sizeof(*slot));
	struct function_recording *recording = sum->recording;
	bool is_whole = recording->n_profiles == sum->n_profiles && recording->n_windows > 0;
	int r = slot ? 0 : -ENOMEM;

	swap_seen(sum, recording);
	if (r == 0 && recording->n_windows > 0)
		r = function_sum_add_head(sum, recording->head);
	if (r == 0)
		r = pack(slot, sum, recording);
	sum->recording = function_recording_free(recording);
	if (r < 0 || !is_whole)
		return r;
	*ret = TAKE_PTR(slot);
	return 1;
}

bool count_slot_next(const struct count_slot *slot, size_t *at, struct count_slot_row *row)
{
	struct function_bytes bytes = { .data = slot->rows + *at, .n = slot->n_bytes - *at };
	uint64_t step;

	if (bytes.n == 0)
		return false;
	step = function_bytes_take(&bytes);
	row->id += (int64_t)(step >> 1 ^ -(step & 1));
	row->flags = (unsigned int)function_bytes_take(&bytes);
	row->tally = (struct function_tally){ .self = function_bytes_take(&bytes) };
	row->tally.total = function_bytes_take(&bytes);
	if (row->flags & SLOT_HAS_VARIANCE)
		row->tally.variance = function_bytes_take(&bytes);
	if (row->flags & SLOT_HAS_RUNS) {
		row->tally.calls = function_bytes_take(&bytes);
		row->tally.runs = function_bytes_take(&bytes);
		row->tally.timed_runs = function_bytes_take(&bytes);
		row->tally.cycles = function_bytes_take(&bytes);
	}
	row->n_gone = row->flags & SLOT_HAS_GONE ? function_bytes_take(&bytes) : 0;
	*at = slot->n_bytes - bytes.n;
	return true;
}
