/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How the daemon takes memory from the kernel, and gives it back.
 *
 * A window's tables pass through three threads, one after the other, and the next window's are as
 * large. To have the kernel provide their pages anew each time took a quarter of the daemon's CPU
 * time on a virtual machine. So all threads share one heap, where what a window needs stays, but
 * for its largest tables and within a limit.
 */
#pragma once

#include <stdint.h>

/* Before the first thread. */
void heap_set_up(void);

/* Of this process in memory; 0: that is not known. */
uint64_t heap_resident_bytes(void);

/* Gives free memory back where it is more than 1 MiB. For one thread, after what took much. */
void heap_trim(void);
