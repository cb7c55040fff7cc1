/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All windows: those in the store, and the open one, whose parts are handed in when a caller asks
 * for them.
 *
 * A window that cannot be stored, for instance on a full disk, is kept and merged with the next.
 * Storing them is tried again, each time after more windows. After many windows they are given up,
 * and counted.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "common/util/fault.h"
#include "common/util/macro.h"
#include "daemon/store/store.h"
#include "daemon/window/window.h"

struct archive;

struct archive_status {
	uint64_t waiting;  /* windows closed, but not stored yet */
	uint64_t given_up; /* windows lost: they could not be stored, or named */
	char fault[512];   /* why the last one could not be stored, "" if it could */
};

/* Called after a change. */
struct archive_listener {
	void (*closed)(const struct window *window, void *userdata); /* stored, with its id */
	void (*part)(void *userdata); /* the open window's profile is up to date */
	void *userdata;
};

/* Takes over @store. 0 or -ENOMEM. */
int archive_new(struct archive **ret, struct store *store);
struct archive *archive_free(struct archive *archive);
DEFINE_CLEANUP(struct archive *, archive_free);

void archive_listen(struct archive *archive, const struct archive_listener *listener);

struct store *archive_get_store(struct archive *archive);

/* A window is open from @start_us on; or, if that is 0, none is. */
void archive_set_open(struct archive *archive, uint64_t start_us, const char *mode);

/*
 * Adds a closed window, or a part of the open one, symbolized; takes over what it has, in any case.
 * 0, or -errno and @fault: it could not be stored or kept; -EAGAIN: it waits with others for the
 * next try.
 */
int archive_add(struct archive *archive, struct window_profile *collected, struct fault *fault);

/* Counts windows that were lost before they could be added. */
void archive_count_lost(struct archive *archive, uint64_t n);

/* Tries at once to store the windows that wait. 0, or -errno and @fault. */
int archive_flush(struct archive *archive, struct fault *fault);

/*
 * The open window up to @now_us, and its profile so far, finalized and symbolized (NULL: it has no
 * part yet): 1; or 0: none is open. Borrowed until the next archive_add(). The window also spans
 * the closed ones that wait to be stored; their profile is that of the next function.
 */
int archive_get_open(const struct archive *archive, uint64_t now_us, struct window *ret,
		     const struct profile **ret_profile);

/* The profile of the windows that wait to be stored, and *@ret, which spans them; NULL: none.
 * Borrowed as above. */
const struct profile *archive_get_waiting(const struct archive *archive, struct window *ret);

void archive_get_status(const struct archive *archive, struct archive_status *ret);
