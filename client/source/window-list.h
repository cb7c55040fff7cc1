/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the daemon's windows of a window reference. */
#pragma once

#include <stddef.h>

#include "client/rpc/connection.h"
#include "client/rpc/windows.h"
#include "client/source/window-ref.h"
#include "common/util/fault.h"

/*
 * The windows of @ref, which is no recording: *@ret_n of @windows, from *@ret_first on. -ENOENT and
 * @fault, which says what windows exist, if none match; -errno and @fault.
 */
int window_list_find(struct connection *connection, const struct window_ref *ref,
		     struct windows *windows, size_t *ret_first, size_t *ret_n,
		     struct fault *fault);
