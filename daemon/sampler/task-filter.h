/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whom alone samples are taken of. A list that is empty restricts nothing; of each that is not, a
 * sample must match one.
 */
#pragma once

#include <stdint.h>

#include "bpf/sample.h"

#define TASK_FILTER_UNIT_MAX 256 /* as long as systemd lets names of units be, with the zero */

struct id_list {
	uint32_t n;
	uint32_t ids[BPF_MAX_WANTED];
};

struct unit_list {
	uint32_t n;
	char names[BPF_MAX_WANTED][TASK_FILTER_UNIT_MAX];
};

/* Unused entries are 0, so that equal ones are equal by bytes. */
struct task_filter {
	struct id_list pids, uids;
	struct unit_list units;
};

/*
 * Lists of words between spaces: processes by number, users by name or number, units by name.
 * -EINVAL for what is none, or an empty list, -E2BIG for more than BPF_MAX_WANTED; *@ret is then as
 * it was.
 */
int task_filter_parse_pids(const char *text, struct id_list *ret);
int task_filter_parse_users(const char *text, struct id_list *ret);
int task_filter_parse_units(const char *text, struct unit_list *ret);
