/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The requests of one client, see messages.h. */
#pragma once

/*
 * Answers the requests that come by @fd, until it is closed. An alarm ends the process if one takes
 * too long. 0, or -errno: what came is no request.
 */
int serve_requests(int fd);
