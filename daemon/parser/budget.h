/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The time that the parser may take. One that takes too much says so and ends; so does one with a
 * memory error.
 */
#pragma once

#include <stdint.h>

/* Catches the signals; last words go to @fd. 0 or -errno. */
int budget_init(int fd);

/* Gives the next work @cpu_us of CPU, and a multiple of that by the clock. */
void budget_start(uint64_t cpu_us);

/* Does @work, whose time is no file's. */
void budget_exclude(void (*work)(void));

/* The CPU that is left. */
uint64_t budget_stop(void);
