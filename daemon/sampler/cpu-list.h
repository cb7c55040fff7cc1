/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which CPUs are on line: the lists in /sys/devices/system/cpu, such as "0-3,8". */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* *@ret is @n flags, for the caller to free. -errno; -EBADMSG where it is no list. */
int cpu_list_read_online(bool **ret, uint32_t n);

/* Sets those of @n flags that @text names, and clears the others. Numbers from @n on are passed
 * over. */
int cpu_list_parse(bool *flags, uint32_t n, const char *text);

/* Whether @text names @cpu. */
bool cpu_list_has(const char *text, uint32_t cpu);

/* The number of one CPU that is on line. */
int cpu_list_first_online(void);
