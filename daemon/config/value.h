/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Values as systemd's configuration files write them. Each parser: 0, or -EINVAL or -ERANGE. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* "yes", "no" and so on. */
int config_value_bool(const char *text, bool *ret);

int config_value_count(const char *text, uint64_t *ret);

/* "0.2%", or "0.2 %" */
int config_value_percent(const char *text, double *ret);

/* Bytes, with K, M, G, T of 1024; "infinity" is 0. */
int config_value_bytes(const char *text, uint64_t *ret);

/* A span of time, such as 90, "10s", "1min 30s", "500ms"; plain numbers are seconds. */
int config_value_span_us(const char *text, uint64_t *ret);
