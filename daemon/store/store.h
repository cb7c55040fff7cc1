/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The store: windows kept in SQLite, exactly. The profile read back is the profile written.
 *
 * Each window is one transaction. Objects, functions, frames and paths are kept once, however many
 * windows refer to them. The schema (schema.sql) is a documented interface that users may query. A
 * database of the version before is converted when it is opened.
 *
 * A window that was added outlives the process, and a thread has the disk write it at once. If the
 * machine fails, each window is there as a whole or not at all, and only one whose write had not
 * ended is gone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/filter.h"
#include "common/profile/profile.h"
#include "common/util/fault.h"
#include "common/util/macro.h"
#include "daemon/retention/settings.h"
#include "daemon/rows/batch.h"
#include "daemon/rows/code.h"
#include "daemon/rows/count-slot.h"
#include "daemon/rows/function-sum.h"
#include "daemon/rows/programs.h"
#include "daemon/rows/window-sum.h"
#include "daemon/window/window.h"

struct store;

struct store_status {
	uint64_t n_bytes;              /* of the files: the database and its write-ahead log */
	uint64_t max_bytes;            /* by the settings and the free space; 0: no limit */
	struct store_tiers tiers;      /* of the settings; none is kept longer than those say */
	uint64_t n_windows, n_removed; /* removed: to make room, since it was opened */
	uint64_t first_us, last_us;    /* when the oldest starts and the newest ends; 0 if none */
	bool removed;        /* somebody else removed it while it was open, and another was begun */
	int64_t converted;   /* the earlier version from which it was converted when opened, or 0 */
	uint64_t n_moved;    /* databases that could not be used, and were renamed */
	char moved_to[4096]; /* the new name of the last of them, or "" */
	char why_moved[512];
	char damage[512];   /* what is wrong with the one in use, and until when; or "" */
	char unopened[512]; /* why none could be opened since the start, or "" */
};

/*
 * Opens or makes the database at @path (":memory:" for tests). A damaged one, or one of a version
 * that cannot be converted, is renamed as above, and reported in the status. -errno and
 * @fault; -EBUSY: another process has it open as a store.
 */
int store_open(struct store **ret, const char *path, const struct store_settings *settings,
	       struct fault *fault);
/*
 * As store_open(), but a database that cannot be opened now, as its disk is full or may not be
 * written to, is tried again with each store_add(): then 0 all the same. Until it is open the store
 * has no windows, and the status says why.
 */
int store_open_later(struct store **ret, const char *path, const struct store_settings *settings,
		     struct fault *fault);
struct store *store_free(struct store *store);
DEFINE_CLEANUP(struct store *, store_free);

/* From now on the code of hot functions is kept with windows: see code.h. */
void store_set_code_source(struct store *store, store_code_source source, void *userdata);

/*
 * The code of a function. The number of bytes written to @ret, at most @n, and *@ret_machine; 0 for
 * none; -errno and @fault.
 */
int store_find_code(struct store *store, const struct store_function *function, void *ret, size_t n,
		    uint16_t *ret_machine, struct fault *fault);

/* Other settings from now on. */
void store_set_settings(struct store *store, const struct store_settings *settings);

/*
 * Writes a window (but for @window->id and open) and its finalized profile; *@ret_id is its new id,
 * larger than all before. -errno and @fault: nothing was written, and the same can be tried again;
 * -EBUSY: another program, -ENOSPC: no space. Where the file was removed, or another put in its
 * place, that is opened or made; the windows in the old one are gone. Where a database found
 * damaged is renamed, the window goes into the new one. -EBADMSG: it may not be renamed yet.
 */
int store_add(struct store *store, const struct window *window, const struct profile *profile,
	      int64_t *ret_id, struct fault *fault);

/*
 * Merges some windows into one of the next tier, or removes one that is older than the last tier or
 * the settings keep, or then some of what only such windows referred to. The age of windows is
 * measured from the last ones added. 1: there may be more to do; 0: nothing now; -errno and @fault.
 */
int store_roll(struct store *store, struct fault *fault);

/*
 * The same in pieces of some ms: windows of many rows take longer to add up. The first answers 2
 * for them, and *@ret; the second may be called in any thread while the store goes on. The last
 * answers 2 once before it replaces them, and while they are held; it can be called again.
 */
struct store_rolling;
int store_roll_begin(struct store *store, struct store_rolling **ret, struct fault *fault);
int store_rolling_work(struct store_rolling *rolling);
int store_roll_end(struct store *store, struct store_rolling *rolling, struct fault *fault);
struct store_rolling *store_rolling_free(struct store_rolling *rolling);
DEFINE_CLEANUP(struct store_rolling *, store_rolling_free);

/* Between these windows are not merged: for who has listed them and will read them. */
void store_hold(struct store *store);
void store_release(struct store *store);

/*
 * The windows that overlap [since, until), oldest first; 0 and UINT64_MAX for all. The handler may
 * use the store; its negative answer ends this, and is passed on.
 */
typedef int (*store_handler)(const struct window *window, void *userdata);
int store_for_each(struct store *store, uint64_t since_us, uint64_t until_us, store_handler handler,
		   void *userdata, struct fault *fault);

/*
 * The profile of window @id, finalized: 1 and *@ret and, unless NULL, *@ret_window; 0 if there is
 * no such window; -errno and @fault.
 */
int store_read(struct store *store, int64_t id, struct profile **ret, struct window *ret_window,
	       struct fault *fault);

/*
 * The same of the windows of a batch, added up: of the first *@ret_n of them, at least one. 0, or
 * -errno and @fault.
 */
int store_read_many(struct store *store, const struct store_batch *batch, size_t *ret_n,
		    struct profile **ret, struct fault *fault);

/*
 * Adds the first *@ret_n windows of the batch, at least one, to @sum. 0, or -errno and @fault, upon
 * which the sum is void.
 */
int store_read_sum(struct store *store, const struct store_batch *batch, struct window_sum *sum,
		   size_t *ret_n, struct fault *fault);

/*
 * Whether any of the first windows of the batch, as many as would be read at once, has more than
 * @max_rows, or may have: that takes long to read (see reader.h).
 */
bool store_has_large(struct store *store, const struct store_batch *batch, uint64_t max_rows);

/*
 * Adds what the functions of window @window->id counted, of the processes that match, to @sum; the
 * rest of *@window is filled in. 1; 0 if there is no such window; -errno and @fault, upon which the
 * sum is void.
 */
int store_read_functions(struct store *store, struct window *window,
			 const struct profile_filter *filter, struct function_sum *sum,
			 struct fault *fault);

/* Ends what count_slot_begin() began: 1 and *@ret; 0: there is none; -errno and @fault. */
int store_end_slot(struct store *store, struct function_sum *sum, struct count_slot **ret,
		   struct fault *fault);
/* Adds what its windows counted: 1; 0: these have changed since; -errno and @fault, upon which the
 * sum is void. */
int store_add_slot(struct store *store, const struct count_slot *slot, struct function_sum *sum,
		   struct fault *fault);

/* When all windows are read, and before the next: looks up some of the programs. 1: there are more;
 * 0; -errno and @fault. */
int store_find_programs(struct store *store, struct program_sum *programs, struct function_sum *sum,
			struct fault *fault);

/* When all windows are read: names some of the rows in a sum by process. 1: there are more; 0;
 * -errno and @fault. */
int store_name_functions(struct store *store, struct function_sum *sum, struct fault *fault);

void store_get_status(struct store *store, struct store_status *ret);

/* Of the status, n_moved: with a new database, what failed before may work. */
uint64_t store_count_moved(const struct store *store);
/* Somebody else has found what @fault says: the database is renamed, or @fault says when it will
 * be.
 */
void store_report_damage(struct store *store, struct fault *fault);
/* Whether the database is damaged and may be renamed now: the next use will. */
bool store_is_due(const struct store *store);
/* A damaged database may be renamed now, however many were: for who will not be there later. */
void store_heal_at_once(struct store *store);

/* The clock by which an hour is measured. Default: CLOCK_BOOTTIME. */
void store_set_clock(struct store *store, store_clock clock);

/* What says which processes there still are when windows are merged. Default: the system. */
void store_set_alive(struct store *store, store_alive_handler is_alive);
