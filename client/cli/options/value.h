/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Arguments of options: numbers, shares, times, words. If an argument is invalid: -EINVAL and a
 * fault that names the option.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/stack/tree.h"
#include "client/top/top.h"
#include "client/view/view.h"
#include "common/util/fault.h"

/* Sets the fault "OPTION 'ARGUMENT': give WANT". Always -EINVAL. */
int options_wrong(struct fault *fault, const char *option, const char *argument, const char *want);

int options_parse_number(const char *option, const char *argument, uint64_t max, uint64_t *ret,
			 struct fault *fault);
/* *@ret is @argument, which must be a directory. */
int options_parse_directory(const char *option, const char *argument, const char **ret,
			    struct fault *fault);
int options_parse_percent(const char *option, const char *argument, double *ret,
			  struct fault *fault);
/* Neither is ever 0. */
int options_parse_bytes(const char *option, const char *argument, uint64_t *ret,
			struct fault *fault);
int options_parse_span(const char *option, const char *argument, uint64_t *ret,
		       struct fault *fault);
/* @late: the later one of a time that occurs twice. */
int options_parse_time(const char *option, const char *argument, uint64_t now_us, bool late,
		       uint64_t *ret, struct fault *fault);
/* @argument may be NULL. */
int options_parse_tree(const char *argument, enum view_tree_first *ret, struct fault *fault);
int options_parse_level(const char *argument, enum top_level *ret, struct fault *fault);
/* See stream-tree.h. */
int options_parse_depth(const char *argument, uint32_t *ret, struct fault *fault);
/* *@ret has a bit for each enum branch_kind. */
/* The number of views, which differ; 0: one of them is invalid. */
size_t options_parse_views(const char *argument, enum view_by ret[N_VIEWS]);
int options_parse_branch_kinds(const char *argument, uint32_t *ret, struct fault *fault);
