/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files whose parser failed, by device, inode and time of change: they are not tried again. The
 * oldest are forgotten when there are too many.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/util/fault.h"
#include "common/util/macro.h"

struct failures;

int failures_new(struct failures **ret);
struct failures *failures_free(struct failures *failures);
DEFINE_CLEANUP(struct failures *, failures_free);

/* Remembers why the file of descriptor @fd failed. */
void failures_add(struct failures *failures, int fd, const char *why);

/* Why the file of @fd failed, or NULL. Valid until the next is added. */
const char *failures_find(const struct failures *failures, int fd);
