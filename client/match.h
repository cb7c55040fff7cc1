/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The conditions of a profile_filter asked of one process, object or symbol: what profile_filter()
 * does with a profile's rows, for samples that are never made one.
 */
#pragma once

#include <stdbool.h>

#include "common/profile/filter.h"

bool match_process(const struct profile_filter *filter, const struct profile_process *process);
/* @object and @symbol may be NULL: that matches where nothing was asked for. */
bool match_object(const struct profile_filter *filter, const struct profile_object *object);
bool match_symbol(const struct profile_filter *filter, const char *symbol);
