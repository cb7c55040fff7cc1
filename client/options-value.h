/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What options take: numbers, shares and times. -EINVAL and @fault, which names the @option, where @argument is none.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/util/fault.h"

/* @want: what to give. Always -EINVAL. */
int options_wrong(struct fault *fault, const char *option, const char *argument, const char *want);

int options_parse_number(const char *option, const char *argument, uint64_t max, uint64_t *ret,
			 struct fault *fault);
/* The same, to where a negative number means none. */
int options_parse_id(const char *option, const char *argument, uint64_t max, int64_t *ret,
		     struct fault *fault);
int options_parse_percent(const char *option, const char *argument, double *ret,
			  struct fault *fault);
/* @late: of two times that the clock showed alike. */
int options_parse_moment(const char *option, const char *argument, uint64_t now_us, bool late,
			 uint64_t *ret, struct fault *fault);
