/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file with the names of hosts, one a line; blank lines and what follows a '#' do not count. */
#pragma once

#include <stddef.h>

#include "common/util/fault.h"

#define HOST_LIST_MAX       10000
#define HOST_LIST_MAX_BYTES (4 << 20)

struct host_list {
	char **names; /* as ssh takes them; "." is this machine */
	size_t n, cap;
};

/* At least one host, none twice. -errno and @fault, which names the line. */
int host_list_read(struct host_list *ret, const char *path, struct fault *fault);
void host_list_done(struct host_list *list);
