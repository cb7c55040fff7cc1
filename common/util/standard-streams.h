/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The descriptors 0, 1 and 2 of a program that somebody started without one of them. */
#pragma once

/*
 * Opens /dev/null for those that are closed, for reading only: what is written there fails, and no
 * file or socket that is opened later takes their numbers. For the start of main(). 0 or -errno.
 */
int standard_streams_fill(void);
