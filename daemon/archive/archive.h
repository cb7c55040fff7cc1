/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The windows there are: those in the store, and the one still open, of which parts are handed in
 * when somebody asks for it.
 *
 * A window that cannot be stored, of a full disk, say, is kept and becomes one with the next; that
 * is tried again after ever more windows. Only after many are some given up, and counted.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/profile/profile.h"
#include "common/util/fault.h"
#include "common/util/macro.h"
#include "daemon/binary/window-symbolizer.h"
#include "daemon/store/store.h"
#include "daemon/window/window.h"

struct archive;

struct archive_status {
	uint64_t waiting;  /* windows closed, but not stored yet */
	uint64_t given_up; /* because they could not be stored */
	char fault[512];   /* why the last one could not be stored, "" if it could */
};

/* Told of a change. */
struct archive_listener {
	void (*closed)(const struct window *window, void *userdata); /* stored, with its id */
	void (*part)(void *userdata); /* the open window's profile is up to date */
	void *userdata;
};

/* Takes over @store; borrows @namer. */
int archive_new(struct archive **ret, struct store *store, struct window_symbolizer *namer);
struct archive *archive_free(struct archive *archive);
DEFINE_CLEANUP(struct archive *, archive_free);

void archive_listen(struct archive *archive, const struct archive_listener *listener);

struct store *archive_get_store(struct archive *archive);

/* A window is open from @start_us on; or, if that is 0, none is. */
void archive_set_open(struct archive *archive, uint64_t start_us, const char *mode);

/*
 * A closed window, or a part of the open one; takes its profile over in any case. 0, or -errno and
 * @fault: it could not be stored, or not be kept; -EAGAIN: what could not be stored before was not
 * tried again yet.
 */
int archive_add(struct archive *archive, struct window_profile *collected, struct fault *fault);

/* Tries at once to store what could not be, if there is any. 0, or -errno and @fault. */
int archive_flush(struct archive *archive, struct fault *fault);

/*
 * The open window as it is known, @now_us being its end, and its profile, sealed and named (NULL:
 * it has no part yet): 1; or 0: none is open. Borrowed until the next archive_add(). The window
 * spans also the closed ones that wait to be stored, whose profile is the next function's.
 */
int archive_get_open(const struct archive *archive, uint64_t now_us, struct window *ret,
		     const struct profile **ret_profile);

/* The profile of the windows that could not be stored yet, and *@ret, which spans them; NULL: none.
 * Borrowed as above. */
const struct profile *archive_get_waiting(const struct archive *archive, struct window *ret);

void archive_get_status(const struct archive *archive, struct archive_status *ret);
