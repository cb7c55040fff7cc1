/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the parser gives up before it reads the first byte of a stranger. Standard input is its
 * connection, standard output its lifeline.
 */
#pragma once

/*
 * Limits memory, CPU, files and processes; gives up root. 0 or -errno, and the
 * step that failed in *@ret_what.
 */
int sandbox_limit(const char **ret_what);

/* Allows from now on only the system calls that reading needs. 0 or -errno. */
int sandbox_close(void);
