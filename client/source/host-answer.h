/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a host of many answered, from the child process that asked it to the one that merges. */
#pragma once

#include <stddef.h>

#include "client/source/profile-source.h"

/* Asks, and writes the profile and its windows, or the fault. -errno. */
int host_answer_write(const struct profile_source_settings *settings, int fd);

/*
 * Sets the windows of @host and *@ret; or its fault, and returns -EREMOTEIO. -ENOMEM.
 */
int host_answer_read(struct profile_source_host *host, struct profile **ret, const char *bytes,
		     size_t n_bytes);
