/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers the requests of a client, one after the other. */
#pragma once

/* Serves connection @fd until it is closed. 0, or a negative errno if it broke. */
int requests_serve(int fd);
