/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Restricts sampling to some processes, users and units. An empty list restricts nothing; each
 * other list must have an entry that matches the sample.
 */
#pragma once

#include <stdint.h>

#include "bpf/sample.h"

#define TASK_FILTER_UNIT_MAX 256 /* systemd's limit for names of units, with the zero */

struct id_list {
	uint32_t n;
	uint32_t ids[BPF_MAX_WANTED];
};

struct unit_list {
	uint32_t n;
	char names[BPF_MAX_WANTED][TASK_FILTER_UNIT_MAX];
};

/* Unused entries are 0, so that memcmp() compares two filters. */
struct task_filter {
	struct id_list pids, uids;
	struct unit_list units;
};

/*
 * Parse lists with spaces in between: numbers of processes, names or numbers of users, names of
 * units. -EINVAL for an invalid word or an empty list, -E2BIG for more than BPF_MAX_WANTED entries;
 * both leave *@ret unchanged.
 */
int task_filter_parse_pids(const char *text, struct id_list *ret);
int task_filter_parse_users(const char *text, struct id_list *ret);
int task_filter_parse_units(const char *text, struct unit_list *ret);
