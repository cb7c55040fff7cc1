/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The requests of one connection, one after the other. */
#pragma once

/* Answers requests until the connection ends or breaks. 0 or -errno. */
int service_run(int fd);
