/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The daemon's interface io.branchd, a function per method.
 *
 * All return -errno and @fault as connection_call() does, with the daemon's errors in words.
 */
#pragma once

#include <jansson.h>

#include "client/rpc/connection.h"
#include "client/rpc/functions.h"
#include "client/rpc/windows.h"
#include "common/profile/filter.h"
#include "common/profile/profile.h"
#include "common/profile/tables.h"
#include "common/util/fault.h"

/* The whole reply, an object; the caller frees it with json_decref(). */
int daemon_api_get_status(struct connection *connection, json_t **ret, struct fault *fault);

/*
 * Adds to @ret all marks, and the windows that overlap [@since_us, @until_us) (0 and UINT64_MAX: no
 * bound); of them only the @n_newest newest (0: all).
 */
int daemon_api_list_windows(struct connection *connection, uint64_t since_us, uint64_t until_us,
			    uint64_t n_newest, struct windows *ret, struct fault *fault);

/*
 * Calls @handler with the windows that exist, then with each window that closes, until one starts
 * after @until_us (then returns 0) or @handler returns something else than 0 (which it returns).
 * -errno and @fault.
 */
typedef int (*daemon_api_handler)(const struct windows *windows, void *userdata);
int daemon_api_follow_windows(struct connection *connection, uint64_t since_us, uint64_t until_us,
			      daemon_api_handler handler, void *userdata, struct fault *fault);

/* As long as @connection is open, processes that start and exit within a window stay apart; it can
 * be used for nothing else then. Daemons without the method refuse, and always keep them apart. */
int daemon_api_keep_processes(struct connection *connection, struct fault *fault);

/* Adds all marks to @ret. */
int daemon_api_list_marks(struct connection *connection, struct windows *ret, struct fault *fault);
/* Names the windows from @first to @last, and adds that mark to @ret. */
int daemon_api_add_mark(struct connection *connection, const struct window_mark *mark,
			struct windows *ret, struct fault *fault);
/* -ENOENT: there is no such mark. */
int daemon_api_delete_mark(struct connection *connection, const char *name, struct fault *fault);

/* Room for code: @n bytes at @bytes. */
struct daemon_api_code {
	uint8_t *bytes;
	size_t n;
	uint16_t machine; /* set by the reply; one of EM_* in elf.h */
};

/*
 * The code that the daemon stored of the function at @start of @object: the number of bytes written
 * to @ret, or 0 if it has none or the user may not see it.
 */
int daemon_api_get_code(struct connection *connection, const struct profile_object *object,
			uint64_t start, struct daemon_api_code *ret, struct fault *fault);

/* Counts of which windows and processes. */
struct daemon_api_request {
	int64_t first, last;                 /* ids of windows; 0: the open window */
	const struct profile_filter *filter; /* of processes; NULL: all */
	unsigned int tables; /* of a profile, that suffice: see tables.h; 0: all are needed */
	/* of daemon_api_get_functions() alone: */
	size_t n_parts; /* 1 to 200, of about as many windows each or, if @until_us is not 0, of
			   time */
	uint64_t since_us, until_us;
	enum functions_by by;
	size_t limit; /* by function, object or process and in one part: the number that suffices,
			 of those with most samples; 0: all are needed */
	const char *symbol; /* of functions that suffice, as profile_symbol_matches() has it; "":
			       none are needed; NULL: all are */
};

/*
 * *@ret is the finalized profile of the request. Adds its windows to @ret_windows. -ENOENT if the
 * first or last window does not exist, -EAGAIN if no window is open.
 */
int daemon_api_get_profile(struct connection *connection, const struct daemon_api_request *request,
			   struct profile **ret, struct windows *ret_windows, struct fault *fault);

/*
 * The counts of functions, objects or processes alone. -EOPNOTSUPP, without a fault, if the daemon
 * lacks the method, these counts or parts of time.
 */
int daemon_api_get_functions(struct connection *connection,
			     const struct daemon_api_request *request, struct functions **ret,
			     struct windows *ret_windows, struct fault *fault);
