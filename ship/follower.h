/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Follows the daemon: asks for each window when it has closed, and puts batches into the spool. If
 * the daemon is away it waits for it. It reads from the socket like any client: however slow it
 * is, sampling does not notice.
 */
#pragma once

#include <stdint.h>

#include "ship/spool.h"

enum follower_topic {
	FOLLOWER_DAEMON, /* it does not answer */
	FOLLOWER_SPOOL,  /* what it answered cannot be kept */
	FOLLOWER_WINDOW, /* one was dropped */
	N_FOLLOWER_TOPICS,
};

struct follower_settings {
	const char *socket;
	struct batch_sender sender;
	struct spool *spool;
	uint64_t sum_us;   /* windows of that span are one; 0: each is its own */
	uint64_t batch_us; /* of windows in a batch */
	/* An empty @fault: that works. */
	void (*complain)(enum follower_topic topic, const struct fault *fault);
};

/* Until follower_stop(). */
void follower_run(const struct follower_settings *settings);

/* From another thread. */
void follower_stop(void);
