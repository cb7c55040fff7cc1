/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/api/function-reply.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/json/json-number.h"
#include "common/json/profile-json.h"
#include "common/util/cleanup.h"

int function_reply_new(struct function_reply **ret, enum function_sum_kind by, bool by_program)
{
	_cleanup_(function_reply_freep) struct function_reply *reply = calloc(1, sizeof(*reply));
	int r;

	if (!reply)
		return -ENOMEM;
	r = function_sum_new(&reply->sum);
	if (r == 0 && by_program)
		r = program_sum_new(&reply->programs);
	if (r == 0)
		r = reply_text_open(&reply->text, REPLY_MAX_BYTES);
	if (r < 0)
		return r;
	reply->sum->by = by;
	fputs("{\"parts\":[", reply->text.f);
	*ret = TAKE_PTR(reply);
	return 0;
}

struct function_reply *function_reply_free(struct function_reply *reply)
{
	if (!reply)
		return NULL;
	function_sum_free(reply->sum);
	program_sum_free(reply->programs);
	reply_text_done(&reply->text);
	free(reply);
	return NULL;
}

static bool is_empty(const struct function_tally *tally)
{
	return tally->total == 0 && tally->self == 0 && tally->calls == 0 && tally->runs == 0;
}

/* "[row,self,...]"; only few have a variance. */
static void write_row(FILE *f, bool is_first, size_t row, const struct function_tally *t)
{
	const uint64_t numbers[] = { row,     t->self,       t->total,  t->calls,
				     t->runs, t->timed_runs, t->cycles, t->variance };
	size_t n = ARRAY_SIZE(numbers) - (t->variance == 0);
	char text[ARRAY_SIZE(numbers) * (JSON_DECIMAL_MAX + 1) + 2], *at = text;

	if (!is_first)
		*at++ = ',';
	for (size_t i = 0; i < n; i++) {
		*at++ = i > 0 ? ',' : '[';
		at = json_put_decimal(at, numbers[i]);
	}
	*at++ = ']';
	fwrite(text, 1, (size_t)(at - text), f);
}

static void begin_rows(FILE *f, bool is_first, uint64_t samples)
{
	fprintf(f, "%s{\"samples\":%" PRIu64 ",\"rows\":[", is_first ? "" : ",", samples);
}

static void write_part(const struct function_reply *reply)
{
	const struct function_sum *sum = reply->sum;
	FILE *f = reply->text.f;
	bool is_first = true;

	begin_rows(f, reply->n_parts == 0, sum->part_samples);
	for (size_t i = 0; i < sum->n_rows; i++) {
		if (sum->rows[i].kind != sum->by || is_empty(&sum->rows[i].tally))
			continue;
		write_row(f, is_first, i, &sum->rows[i].tally);
		is_first = false;
	}
	fputs("]}", f);
}

static void write_noted(const struct program_sum *programs, FILE *f)
{
	size_t at = 0;

	for (size_t i = 0; i < programs->n_parts; i++) {
		const struct program_part *part = &programs->parts[i];
		size_t first = at;

		begin_rows(f, i == 0, part->samples);
		for (; at < part->end; at++) {
			const struct program_count *count = &programs->counts[at];

			write_row(f, at == first, count->row,
				  &(struct function_tally){ .self = count->samples,
							    .total = count->samples });
		}
		fputs("]}", f);
	}
}

int function_reply_end_part(struct function_reply *reply)
{
	FILE *f = reply->text.f;
	int r = 0;

	if (reply->programs)
		r = program_sum_add_part(reply->programs, reply->sum);
	else
		write_part(reply);
	reply->n_parts++;
	function_sum_begin_part(reply->sum);
	if (r < 0 || reply->text.too_long)
		return r ?: -EMSGSIZE;
	return ferror(f) ? -ENOMEM : 0;
}

static void write_place(const struct function_sum *sum, size_t row, FILE *f)
{
	static const struct location none = { PROFILE_NONE, UINT64_MAX };
	/* others are not asked for; they keep the numbers of the rows */
	const struct location *at = sum->rows[row].kind == sum->by ? &sum->rows[row].at : &none;

	if (at->object == PROFILE_NONE)
		fputs("[null,", f);
	else
		fprintf(f, "[%" PRIu32 ",", at->object);
	if (at->offset == UINT64_MAX)
		fputs("null]", f);
	else
		fprintf(f, "\"0x%" PRIx64 "\"]", at->offset);
}

int function_reply_write_json(struct function_reply *reply)
{
	const struct function_sum *sum = reply->sum;
	FILE *f = reply->text.f;

	if (reply->programs)
		write_noted(reply->programs, f);
	fprintf(f, "],\"left_out\":%zu,\"places\":[", reply->n_left_out);
	for (size_t i = 0; i < sum->n_rows; i++) {
		fputs(i > 0 ? "," : "", f);
		write_place(sum, i, f);
	}
	fputs("],\"profile\":", f);
	return profile_json_write(sum->names, f);
}
