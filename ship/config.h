/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The configuration of branchd-ship: ship.conf, in systemd's syntax. See ship.conf(5). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/util/fault.h"
#include "ship/format.h"

struct config {
	char *url, *database, *user, *password_file, *ca_file, *host; /* NULL: not given */
	enum format format;
	uint64_t sum_us, batch_us, max_spool_bytes;
};

/*
 * Reads @path. -errno and @fault, with the line of what is wrong; a key that is not known, too:
 * nothing is sent to a place that was not meant.
 */
int config_load(struct config *ret, const char *path, struct fault *fault);
void config_done(struct config *config);

/* Heap: the first line of the file. -errno and @fault. */
int config_read_secret(char **ret, const char *path, struct fault *fault);
