/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/api/query-answer.h"

#include <stdio.h>

#include "common/json/profile-json.h"
#include "common/profile/redact.h"
#include "common/profile/unite.h"
#include "daemon/api/query-parts.h"
#include "daemon/api/reply-text.h"
#include "daemon/rows/function-cut.h"

/* There is one part, whose rows are written as they are then. */
static int cut_functions(struct function_reply *functions, size_t limit)
{
	int r = function_cut_functions(functions->sum, limit, &functions->n_left_out);

	return r ?: function_reply_end_part(functions);
}

/* The open window is the last of the last part. */
static int finish_functions(struct query *q)
{
	int r = 0;

	while (r == 0 && q->functions->n_parts + 1 < (size_t)q->request.n_parts)
		r = function_reply_end_part(q->functions);
	for (size_t i = 0; r == 0 && i < q->n_parts; i++)
		r = function_sum_add_profile(q->functions->sum, q->parts[i]);
	if (r == 0 && q->request.limit > 0 && q->request.by < SUM_PROCESS && q->privileged)
		return cut_functions(q->functions, (size_t)q->request.limit);
	if (r == 0)
		r = function_reply_end_part(q->functions);
	return r ?: function_sum_finish(q->functions->sum, !q->privileged);
}

/* What is to be sent: a profile of nothing where no window had any part. */
static int finish_sum(struct query *q)
{
	int r;

	if (q->functions)
		return finish_functions(q);
	r = q->sum ? query_take_sum(q) : 0;
	if (r < 0)
		return r;
	if (q->n_parts == 0) {
		r = profile_new(&q->parts[0]);
		if (r == 0)
			q->n_parts = 1;
		r = r ?: profile_finalize(q->parts[0]);
	} else {
		r = query_add_up(q);
	}
	if (r == 0)
		r = profile_unite(q->parts[0]);
	if (r == 0 && !q->privileged)
		r = profile_redact(&q->parts[0]);
	return r;
}

static int write_reply(struct query *q, struct reply_text *text)
{
	int r = q->functions ? function_reply_write_json(q->functions) : 0;

	if (r < 0)
		return r;
	fputc(q->functions ? ',' : '{', text->f);
	r = window_list_write_json(&q->windows, text->f);
	if (r < 0)
		return r;
	if (!q->functions) {
		fputs(",\"profile\":", text->f);
		r = profile_json_write(q->parts[0], text->f);
	}
	fputc('}', text->f);
	return r;
}

int query_answer_write(struct query *q)
{
	struct reply_text own, *text = q->functions ? &q->functions->text : &own;
	int r, finished;

	r = finish_sum(q);
	if (r < 0)
		return r;
	if (!q->functions) {
		r = reply_text_open(text, q->privileged ? REPLY_MAX_BYTES : REPLY_MAX_USER_BYTES);
		if (r < 0)
			return r;
	}
	r = write_reply(q, text);
	query_drop_parts(q);
	finished = reply_text_finish(text, &q->bytes, &q->n_bytes);
	reply_text_done(text);
	return finished < 0 ? finished : r;
}
