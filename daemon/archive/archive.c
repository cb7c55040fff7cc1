/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/archive/archive.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/profile/limit/limit.h"
#include "common/profile/limit/names.h"

/* Windows may wait to be stored until they are more than this, and span more than this. A damaged
 * database is moved out of the way within an hour. */
#define MAX_WAITING    360u
#define MAX_WAITING_US (STORE_HEAL_US + 600 * 1000000ULL)

/*
 * The more windows wait, the longer each try takes, and no caller is answered meanwhile: so the
 * pauses between tries double, up to this number of windows.
 */
#define MAX_PAUSE 30u

/*
 * Stacks, streams, branches and blocks of each user in a second of a window, at most, and the
 * seconds for which that is multiplied. Nobody but root may swell what is named and stored.
 */
#define MAX_ROWS    3000u
#define MAX_SECONDS 60u

/* Names that users choose may have this number of bytes in a window; or longer ones are truncated.
 */
#define MAX_NAME_BYTES (4u << 20)
#define MAX_NAME       256u

struct archive {
	struct store *store;
	struct archive_listener listener;
	bool has_open;
	struct window_profile open; /* the parts of the open window so far, as one; or no profile */
	struct window_profile waiting; /* closed windows not stored yet, as one; or no profile */
	uint64_t next_try;             /* once this number of windows waits, ... */
	uint64_t n_moved; /* ... or the store has begun another database than at the last try */
	struct archive_status status;
};

static int on_code_wanted(const struct profile *profile, const struct profile_function *function,
			  void *ret, size_t n, uint16_t *ret_machine, void *userdata)
{
	const struct archive *archive = userdata;
	const struct code_piece *piece = window_code_find(archive->waiting.code, profile, function);

	if (!piece)
		return 0;
	n = MIN(n, piece->n_bytes);
	memcpy(ret, piece->bytes, n);
	*ret_machine = piece->machine;
	return (int)n;
}

int archive_new(struct archive **ret, struct store *store)
{
	struct archive *archive = calloc(1, sizeof(*archive));

	if (!archive) {
		store_free(store);
		return -ENOMEM;
	}
	archive->store = store;
	store_set_code_source(store, on_code_wanted, archive);
	*ret = archive;
	return 0;
}

struct archive *archive_free(struct archive *archive)
{
	if (!archive)
		return NULL;
	window_profile_done(&archive->open);
	window_profile_done(&archive->waiting);
	store_free(archive->store);
	free(archive);
	return NULL;
}

void archive_listen(struct archive *archive, const struct archive_listener *listener)
{
	archive->listener = *listener;
}

struct store *archive_get_store(struct archive *archive)
{
	return archive->store;
}

void archive_set_open(struct archive *archive, uint64_t start_us, const char *mode)
{
	archive->has_open = start_us > 0;
	if (archive->open.profile)
		return; /* parts of a window that will be closed yet */
	archive->open.window = (struct window){ .start_us = start_us, .open = true };
	snprintf(archive->open.window.mode, sizeof(archive->open.window.mode), "%s", mode ?: "");
}

static uint64_t max_rows(uint32_t uid, void *userdata)
{
	const struct window *window = userdata;
	uint64_t seconds = MIN(window->length_us / 1000000, (uint64_t)MAX_SECONDS);

	return uid == 0 ? UINT64_MAX : MAX_ROWS * MAX(seconds, (uint64_t)1);
}

/* 0 or -ENOMEM; to be finalized. */
static int limit(struct profile *profile, struct window *window)
{
	int r = profile_limit(profile, max_rows, window);

	if (r >= 0)
		r = profile_limit_names(profile, MAX_NAME_BYTES, MAX_NAME);
	return MIN(r, 0);
}

static uint64_t end_us(const struct window *window)
{
	return window->start_us + window->length_us;
}

/* @into spans both. */
static void join_windows(struct window *into, const struct window *window)
{
	uint64_t start = MIN(into->start_us, window->start_us);
	uint64_t end = MAX(end_us(into), end_us(window));

	into->start_us = start;
	into->length_us = end - start;
	into->samples += window->samples;
	into->lost += window->lost;
	if (strcmp(into->mode, window->mode) != 0)
		strcpy(into->mode, "mixed");
}

/* Moves @from into @into, which may be empty. Both are finalized. */
static int join(struct window_profile *into, struct window_profile *from)
{
	const struct profile *both[] = { into->profile, from->profile };
	struct profile *sum;
	struct window window;
	int r;

	if (!into->profile) {
		window_code_free(into->code);
		*into = *from;
		*from = (struct window_profile){};
		return 0;
	}
	r = profile_merge(&sum, both, ARRAY_SIZE(both));
	if (r < 0)
		return r;
	window = into->window;
	join_windows(&window, &from->window);
	r = limit(sum, &window) ?: profile_finalize(sum);
	if (r < 0) {
		profile_free(sum);
		return r;
	}
	into->window = window;
	profile_free(into->profile);
	into->profile = sum;
	into->code = window_code_join(into->code, TAKE_PTR(from->code));
	from->profile = profile_free(from->profile);
	return 0;
}

/* Stores the windows that wait. -errno and @fault: they wait on. */
static int store_waiting(struct archive *archive, struct fault *fault)
{
	struct window_profile *waiting = &archive->waiting;
	int r;

	waiting->window.open = false;
	r = store_add(archive->store, &waiting->window, waiting->profile, &waiting->window.id,
		      fault);
	archive->n_moved = store_count_moved(archive->store);
	if (r < 0) {
		memcpy(archive->status.fault, fault->text, sizeof(archive->status.fault));
		archive->next_try =
			archive->status.waiting + MIN(archive->status.waiting, MAX_PAUSE);
		return r;
	}
	archive->next_try = 0;
	archive->status.waiting = 0;
	archive->status.fault[0] = '\0';
	window_profile_done(waiting);
	if (archive->listener.closed)
		archive->listener.closed(&waiting->window, archive->listener.userdata);
	waiting->window = (struct window){};
	return 0;
}

void archive_count_lost(struct archive *archive, uint64_t n)
{
	archive->status.given_up += n;
}

int archive_flush(struct archive *archive, struct fault *fault)
{
	return archive->waiting.profile ? store_waiting(archive, fault) : 0;
}

static void give_up(struct archive *archive)
{
	archive->status.given_up += archive->status.waiting;
	archive->status.waiting = 0;
	archive->next_try = 0;
	window_profile_done(&archive->waiting);
}

static bool is_too_much(const struct archive *archive)
{
	return archive->status.waiting >= MAX_WAITING &&
	       archive->waiting.window.length_us >= MAX_WAITING_US;
}

/* With the window just closed among those that wait. */
static bool is_time_to_try(const struct archive *archive)
{
	return archive->status.waiting >= archive->next_try || is_too_much(archive) ||
	       archive->n_moved != store_count_moved(archive->store) ||
	       store_is_due(archive->store);
}

static int add_closed(struct archive *archive, struct window_profile *closed, struct fault *fault)
{
	struct window_profile *open = &archive->open;
	int r = 0;

	if (open->profile) {
		r = join(closed, open);
		window_profile_done(open);
	}
	open->window = (struct window){ .start_us = end_us(&closed->window), .open = true };
	memcpy(open->window.mode, closed->window.mode, sizeof(open->window.mode));
	if (is_too_much(archive))
		give_up(archive);
	if (r == 0)
		r = join(&archive->waiting, closed);
	if (r < 0) {
		archive->status.given_up++;
		return fault_set(fault, r, "no memory for a closed window: it is lost");
	}
	archive->status.waiting++;
	if (!is_time_to_try(archive))
		return fault_set(fault, -EAGAIN, "%s", archive->status.fault);
	return store_waiting(archive, fault);
}

static int add_part(struct archive *archive, struct window_profile *part, struct fault *fault)
{
	int r = join(&archive->open, part);

	archive->has_open = true;
	archive->open.window.open = true;
	if (r < 0)
		return fault_set(fault, r, "no memory for a part of a window: it is lost");
	if (archive->listener.part)
		archive->listener.part(archive->listener.userdata);
	return 0;
}

int archive_add(struct archive *archive, struct window_profile *collected, struct fault *fault)
{
	int r = limit(collected->profile, &collected->window);

	if (r == 0)
		r = profile_finalize(collected->profile);
	if (r < 0) {
		fault_set(fault, r, "no memory to keep a window: it is lost");
		archive->status.given_up++;
	} else if (collected->window.open) {
		r = add_part(archive, collected, fault);
	} else {
		r = add_closed(archive, collected, fault);
	}
	window_profile_done(collected);
	return r;
}

int archive_get_open(const struct archive *archive, uint64_t now_us, struct window *ret,
		     const struct profile **ret_profile)
{
	const struct window *window = &archive->open.window;

	if (!archive->has_open)
		return 0;
	*ret = *window;
	ret->length_us = now_us > window->start_us ? now_us - window->start_us : 0;
	*ret_profile = archive->open.profile;
	if (archive->waiting.profile)
		join_windows(ret, &archive->waiting.window);
	return 1;
}

const struct profile *archive_get_waiting(const struct archive *archive, struct window *ret)
{
	if (archive->waiting.profile)
		*ret = archive->waiting.window;
	return archive->waiting.profile;
}

void archive_get_status(const struct archive *archive, struct archive_status *ret)
{
	*ret = archive->status;
}
