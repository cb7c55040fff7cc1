/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the daemon offers, as functions: the methods of its interface io.branchd.
 *
 * -errno and @fault of all of them are connection_call()'s, the daemon's errors in words.
 */
#pragma once

#include <jansson.h>

#include "client/rpc/connection.h"
#include "client/rpc/functions.h"
#include "client/rpc/windows.h"
#include "common/profile/filter.h"
#include "common/profile/profile.h"
#include "common/util/fault.h"

/* The reply as it came, as an object; json_decref() it. */
int daemon_api_get_status(struct connection *connection, json_t **ret, struct fault *fault);

/*
 * Adds to @ret the windows that have a moment of [since, until) in them, in microseconds (0 and
 * UINT64_MAX: no bound), and of these the @n_newest only (0: all).
 */
int daemon_api_list_windows(struct connection *connection, uint64_t since_us, uint64_t until_us,
			    uint64_t n_newest, struct windows *ret, struct fault *fault);

/*
 * Calls @handler with the windows there are, and then with each that closes, as long as it returns
 * 0 and until the one that begins at @until_us. Returns its other answer, 0 at the end, or -errno
 * and @fault.
 */
typedef int (*daemon_api_handler)(const struct windows *windows, void *userdata);
int daemon_api_follow_windows(struct connection *connection, uint64_t since_us, uint64_t until_us,
			      daemon_api_handler handler, void *userdata, struct fault *fault);

/*
 * The code of the function that starts at @start of @object, if the daemon has kept it: the number
 * of bytes written to @ret, at most @n, and *@ret_machine, one of EM_* in elf.h; or 0, also for who
 * may not see it.
 */
int daemon_api_get_code(struct connection *connection, const struct profile_object *object,
			uint64_t start, void *ret, size_t n, uint16_t *ret_machine,
			struct fault *fault);

/*
 * *@ret is the profile, sealed, of the windows with the ids @first to @last, 0 being the open one;
 * of the processes that @filter (or NULL) asks for. The windows are added to @ret_windows. -ENOENT
 * where one of both is not there (any more), -EAGAIN where none is open.
 */
int daemon_api_get_profile(struct connection *connection, int64_t first, int64_t last,
			   const struct profile_filter *filter, struct profile **ret,
			   struct windows *ret_windows, struct fault *fault);

/*
 * The same windows, by their functions alone, in @n_parts parts, 1 to 100. -EOPNOTSUPP, without a
 * fault, where the daemon is one that does not have that.
 */
int daemon_api_get_functions(struct connection *connection, int64_t first, int64_t last,
			     size_t n_parts, const struct profile_filter *filter,
			     struct functions **ret, struct windows *ret_windows,
			     struct fault *fault);
