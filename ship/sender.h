/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sends batches from the spool to the server, until spool_stop(): one at a time, the oldest first.
 * A batch leaves the spool when the server has all of it. After a failure it waits, longer each
 * time and with jitter, so that many hosts do not come back at once.
 */
#pragma once

#include <stdint.h>

#include "common/util/fault.h"
#include "ship/receiver.h"
#include "ship/spool.h"

struct sender_totals {
	uint64_t sent_windows, sent_bytes, failures;
	uint64_t last_end_us; /* the end of the last window that was sent; 0: none */
	struct fault fault;   /* the last failure, until something was sent */
};

struct sender_settings {
	struct spool *spool;
	struct receiver *receiver;
	/* in the sender's thread, after each batch, each failure, and some seconds */
	void (*report)(const struct sender_totals *totals, void *userdata);
	void *userdata;
};

/* How long to wait after that many failures before: half of it is chance. */
uint64_t sender_wait_us(unsigned int n_failures);

void sender_run(const struct sender_settings *settings);
