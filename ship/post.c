/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ship/post.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ship/otlp-answer.h"

#define SECOND_US 1000000

/* A character of a label's value; others have a meaning in the name or in the URL. */
static void put_label(FILE *f, const char *text)
{
	for (; *text; text++)
		fputc(isalnum((unsigned char)*text) || strchr("-._", *text) ? *text : '_', f);
}

int post_pprof(struct http *http, const char *host, const struct batch *batch, struct fault *fault)
{
	char parameters[512];
	FILE *f = fmemopen(parameters, sizeof(parameters), "w");

	if (!f)
		return fault_set(fault, -ENOMEM, "out of memory");
	fputs("name=branchd%7Bhost%3D", f);
	put_label(f, host);
	fprintf(f, "%%7D&format=pprof&from=%" PRIu64 "&until=%" PRIu64, batch->first_us / SECOND_US,
		batch->end_us / SECOND_US);
	fclose(f);
	return http_post(http,
			 &(struct http_request){
				 .parameters = parameters,
				 .body = batch->texts[BATCH_PPROF],
				 .n_body = batch->sizes[BATCH_PPROF],
				 .once = true,
				 .silent = true,
			 },
			 NULL, fault);
}

int post_otlp(struct http *http, const struct batch *batch, uint64_t *ret_rejected,
	      struct fault *fault)
{
	char *answer;
	int r = http_post(http,
			  &(struct http_request){
				  .body = batch->texts[BATCH_OTLP],
				  .n_body = batch->sizes[BATCH_OTLP],
				  .is_gzip = true,
				  .once = true,
			  },
			  &answer, fault);

	if (r >= 0)
		*ret_rejected = otlp_answer_rejected(answer, strlen(answer));
	return r;
}
