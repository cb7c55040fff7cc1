/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Window references by name: the windows of a mark in a list, and what to say if there is none. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/rpc/windows.h"
#include "common/util/fault.h"

/* The windows with that name: *@ret_n from index *@ret_first on. False: none is listed. */
bool mark_ref_find(const struct windows *windows, const char *name, size_t *ret_first,
		   size_t *ret_n);

/* Names the marks that there are. Always -ENOENT. */
int mark_ref_not_found(const struct windows *windows, const char *name, struct fault *fault);

/*
 * Whether the ids between the window at index @at and the next one are of removed windows: marked
 * windows outlive those behind them. Else such ids were merged into this window.
 */
bool mark_ref_is_before_removed(const struct windows *windows, size_t at);

/* Whether no window is listed at @us, microseconds since 1970, because it was removed. */
bool mark_ref_is_removed(const struct windows *windows, uint64_t us);

/*
 * For a @word that no function has as its name: -ENOENT and @fault if it is a mark of the daemon at
 * @socket, with what to write instead, as of branchctl's @command. Else @error, @fault untouched.
 */
int mark_ref_explain(const char *socket, const char *command, const char *word, int error,
		     struct fault *fault);
