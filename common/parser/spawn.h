/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Starts a parser process without a daemon: branchd-parser as a child, as the same user and with
 * the same priority: the user waits for it. */
#pragma once

#include <stdint.h>

/*
 * For parser_settings.connect; @userdata is not used. The child ends with its connection. SIGCHLD
 * is not touched: ended children are collected by the next call. A stream socket; -ENOENT if
 * branchd-parser is not installed; or another negative errno.
 */
int spawn_parser(uint32_t owner, void *userdata);
