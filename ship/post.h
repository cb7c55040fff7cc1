/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Posts profiles to servers that take them. There is no way to ask whether they are there. */
#pragma once

#include <stdint.h>

#include "client/http/http.h"
#include "ship/batch.h"

/* To Pyroscope's /ingest. -errno and @fault. */
int post_pprof(struct http *http, const char *host, const struct batch *batch, struct fault *fault);

/* By OTLP. *@ret_rejected is how many of its profiles the server has rejected. -errno and @fault.
 */
int post_otlp(struct http *http, const struct batch *batch, uint64_t *ret_rejected,
	      struct fault *fault);
