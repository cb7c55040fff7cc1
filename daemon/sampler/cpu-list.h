/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of CPUs as in /sys/devices/system/cpu, such as "0-3,8". */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A descriptor of the list of CPUs on line, which may be read again and again, or -errno. */
int cpu_list_open_online(void);
/* Sets those of @n flags whose CPU is on line, as cpu_list_parse(); or -errno. */
int cpu_list_read_online(int fd, bool *flags, uint32_t n);

/* Sets those of @n flags that @text names, and clears the others. Skips numbers from @n on. 0 or
 * -EBADMSG. */
int cpu_list_parse(bool *flags, uint32_t n, const char *text);

/* Whether @text names @cpu. */
bool cpu_list_has(const char *text, uint32_t cpu);

/* The number of the first CPU on line. */
int cpu_list_first_online(void);
