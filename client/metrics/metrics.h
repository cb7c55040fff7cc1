/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of the daemon as metrics, for Prometheus and others. Their number is bounded: of the
 * functions only the hottest ones are shown, and what comes and goes with processes is in no label.
 */
#pragma once

#include <stdio.h>

#include <jansson.h>

#include "client/metrics/labels.h"
#include "client/top/top.h"

#define METRICS_MAX_FUNCTIONS 1000

struct metrics_input {
	enum metrics_format format;
	const json_t *status;  /* NULL: the daemon does not answer */
	const struct top *top; /* of functions; NULL: there is no window */
	size_t n_functions;    /* at most METRICS_MAX_FUNCTIONS */
};

/* 0 or -ENOMEM; ferror(f) shows write errors. */
int metrics_write(const struct metrics_input *input, FILE *f);
