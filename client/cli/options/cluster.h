/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* --cluster URL: what many hosts have sent to ClickHouse, instead of a daemon's windows. */
#pragma once

#include "client/cli/options/options.h"
#include "client/cluster/cluster-sql.h"
#include "common/util/fault.h"

/* -ENOENT: another option; -EINVAL and @fault. */
int options_cluster_apply(struct options *options, int key, const char *argument,
			  struct fault *fault);

/*
 * Whether the words go together; sets what follows from them. @by: the argument of --by, or NULL;
 * @twice: there is a second one. -EINVAL and @fault.
 */
int options_cluster_check(struct options *options, const char *by, bool twice, struct fault *fault);

/* Of diff: how few WINDOWs suffice. */
int options_cluster_min_operands(const struct options *options, int usual);

enum cluster_by options_cluster_by(enum view_by by);

void options_cluster_done(struct options *options);
