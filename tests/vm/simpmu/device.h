/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * /dev/simpmu: a sample of given content. All events of this PMU that are running on the caller's
 * CPU overflow, in an NMI, in the calling thread.
 */
#pragma once

#include <linux/ioctl.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#define SIMPMU_MAX_ROWS 64

struct simpmu_sample {
	__u64 ip; /* 0: where the caller is */
	__u64 nr;
	__u64 hw_idx;
	struct perf_branch_entry rows[SIMPMU_MAX_ROWS];
};

/* Returns how many events overflowed. */
#define SIMPMU_FIRE _IOW('s', 1, struct simpmu_sample)
