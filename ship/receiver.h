/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The server that batches are sent to: ClickHouse, or one that takes profiles. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/util/fault.h"
#include "common/util/macro.h"
#include "ship/batch.h"
#include "ship/format.h"

struct receiver;

struct receiver_settings {
	enum format format;
	const char *url;
	const char *user, *password; /* NULL: none */
	const char *ca_file;         /* NULL: those of the system */
	const char *host;            /* whose batches they are; borrowed */
	const char *database;        /* of ClickHouse; borrowed */
};

struct receiver_part {
	const struct batch *batch;
	enum batch_table table;
	bool unsure; /* whether the server has it: it is asked, if it can be */
};

/* -errno and @fault. */
int receiver_new(struct receiver **ret, const struct receiver_settings *settings,
		 struct fault *fault);
struct receiver *receiver_free(struct receiver *receiver);
DEFINE_CLEANUP(struct receiver *, receiver_free);

/* *@ret_rejected is how many profiles the server never takes. -errno and @fault: it may have the
 * part or not. */
int receiver_send(struct receiver *receiver, const struct receiver_part *part,
		  uint64_t *ret_rejected, struct fault *fault);
