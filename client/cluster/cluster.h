/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The server that is asked, and how: by its tables, or those of all servers if it has these. */
#pragma once

#include <stdbool.h>

#include "client/cluster/tsv.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct cluster;

/* @url is http:// or https://. -errno and @fault if nobody answers there, or not ClickHouse. */
int cluster_open(struct cluster **ret, const char *url, struct fault *fault);
struct cluster *cluster_free(struct cluster *cluster);
DEFINE_CLEANUP(struct cluster *, cluster_free);

/* Whether it has the tables of ship-cluster.sql: "all_functions_day" beside "functions_day". */
bool cluster_has_all(const struct cluster *cluster);

/* The rows of the answer, valid until the next question. -errno and @fault. */
int cluster_ask(struct cluster *cluster, const char *sql, struct tsv *ret, struct fault *fault);

/* Of an answer that cannot be read: -EBADMSG and @fault. */
int cluster_refuse_answer(const struct cluster *cluster, struct fault *fault);
