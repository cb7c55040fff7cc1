/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon of another machine: a child process "ssh HOST branchctl --stdio-bridge" passes on what
 * is sent to it, and the replies. The other machine opens no port but ssh's, and checks who asks as
 * it does for its own users.
 *
 * What ssh and the other machine say on standard error is kept from the terminal; ssh_explain() has
 * it.
 */
#pragma once

#include <stdbool.h>

#include "common/util/fault.h"
#include "common/util/macro.h"

struct ssh;

/* An address is "ssh:HOST:PATH": the absolute path of a socket there, as ssh_format_address() makes
 * it. */
bool ssh_is_address(const char *address);

/* The caller frees it. NULL: out of memory. */
char *ssh_format_address(const char *host, const char *path);

/* Whether ssh takes that word for a host, and not for an option. */
bool ssh_is_host(const char *host);

/* *@ret_fd, a non-blocking socket, is the caller's. -errno and @fault. */
int ssh_start(struct ssh **ret, int *ret_fd, const char *address, struct fault *fault);

/* Ends it, if it still runs. */
struct ssh *ssh_free(struct ssh *ssh);
DEFINE_CLEANUP(struct ssh *, ssh_free);

/* As it was named; valid until ssh_free(). */
const char *ssh_host(const struct ssh *ssh);

/* Its standard error, non-blocking: whoever waits for replies has to read it meanwhile. */
int ssh_errors_fd(const struct ssh *ssh);
void ssh_read_errors(struct ssh *ssh);

/* After the socket was closed by the other side: -ECONNRESET, and the cause in @fault. */
int ssh_explain(struct ssh *ssh, struct fault *fault);
