/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tiers of windows, as the configuration has them: "10s:1h 1min:1d". */
#pragma once

#include "daemon/retention/settings.h"

/* Windows are kept for this long at most. */
#define TIERS_VALUE_MAX_US (100 * 366 * 86400000000ULL)

/* 0; -EINVAL or -ERANGE with *@ret unchanged. */
int tiers_value_parse(const char *text, struct store_tiers *ret);
