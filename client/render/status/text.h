/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * `branchctl status` for people.
 */
#pragma once

#include <jansson.h>

#include "client/term/output.h"

/* @status is the daemon's reply. Members that it does not have, from an older daemon say, are left
 * out. 0 or -ENOMEM. */
int status_write_text(const json_t *status, struct output *output);
