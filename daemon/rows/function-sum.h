/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What windows counted of each function, object or process, added up: the counts of one part of
 * their time, and over all parts the samples and the names. The caller takes each part's counts
 * before the next begins.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/function-counts.h"
#include "common/profile/profile.h"
#include "common/util/macro.h"
#include "daemon/database/id-map.h"
#include "daemon/database/id-set.h"

enum function_sum_kind {
	SUM_FUNCTION, /* a function, or the parts of an object outside of functions */
	SUM_OBJECT,
	SUM_PROCESS,
	SUM_COMM, /* the processes of a name; ... */
	SUM_UNIT, /* ... of a unit; ... */
	SUM_USER, /* ... of a user */
	N_SUM_KINDS,
	SUM_LEFT_OUT = N_SUM_KINDS, /* a function that nobody asked for */
};

/* Whether rows are of processes. */
static inline bool function_sum_is_of_owners(enum function_sum_kind kind)
{
	return kind >= SUM_PROCESS && kind < N_SUM_KINDS;
}

#define OWNER_NONE (-1) /* of samples without a process */

struct function_sum_row {
	enum function_sum_kind kind;
	struct location at; /* in terms of the names' objects; the offset is that of a function, or
			       UINT64_MAX. Of processes: an index among the names instead of an
			       object's, which stands for all of a name, unit or user. */
	int64_t id;   /* in the database: of a function; -1 times that of the object of no function;
			 of an object; of a process, of the string that is its name or unit, or a
			 user, or OWNER_NONE */
	bool is_gone; /* ... and it stands for processes that have gone: ... */
	uint64_t n_gone;             /* ... how many */
	uint64_t self;               /* of all parts */
	struct function_tally tally; /* of this part */
};

struct recorded_row {
	bool found; /* in one of the windows */
	struct function_tally tally;
	uint64_t n_gone;
};

/* What is noted for a slot, see count-slot.h. */
struct function_recording {
	struct recorded_row *rows; /* by the numbers of the sum's rows */
	size_t n_rows, cap_rows;
	struct id_set seen, seen_executables; /* those of the sum, which has others meanwhile */
	int64_t *executables;
	size_t n_executables, cap_executables;
	struct profile *head; /* of the windows, without rows */
	size_t n_windows;
	int64_t first, last; /* the least and the largest of their ids */
	size_t n_profiles;   /* that the sum had before */
};

struct function_recording *function_recording_free(struct function_recording *recording);

struct function_sum {
	/* What is asked for. By object there are rows of functions, too: they name what is
	 * compared.
	 */
	enum function_sum_kind by;
	const char *symbol; /* by function, if only those of such a name count: see
			       profile_symbol_matches(), "" is no function's; borrowed; or NULL */
	bool whole;         /* all that the windows have is read, also what the filter needs not */
	struct profile *names;     /* objects, functions, executables or, by process and so on, what
				      stands for processes, and counters; not finalized yet */
	struct id_map executables; /* the names' strings that are among these */
	struct id_map processes;   /* of the database, to their rows: see owners.h */
	struct id_set seen;        /* processes of the database whose executables are named */
	struct id_set seen_executables; /* strings of the database */
	int64_t *fresh;                 /* processes of the window that is read, not seen before */
	size_t n_fresh, cap_fresh;
	struct id_map row_numbers; /* to numbers of rows, by the database's ids or a profile's
				      indices; but */
	uint32_t *direct; /* of the database's functions of low ids, to their numbers plus 1; 0:
			     none yet */
	size_t n_direct;
	struct function_sum_row *rows;
	size_t n_rows, cap_rows;
	size_t n_named;    /* rows that were looked at for names */
	uint64_t database; /* in which these ids are; 0: nothing was read */
	uint64_t part_samples;
	size_t n_added, n_profiles;
	struct function_recording *recording; /* NULL: nothing is noted */
};

/* 0 or -ENOMEM. */
int function_sum_new(struct function_sum **ret);
struct function_sum *function_sum_free(struct function_sum *sum);
DEFINE_CLEANUP(struct function_sum *, function_sum_free);

/*
 * The number of the row of that function of the database, or for function 0 of that object; -ENOENT
 * where it is to be added by the next, whose @at is in terms of sum->names, as above. Or -ENOMEM.
 * @name is NULL for function 0.
 */
int64_t function_sum_find(const struct function_sum *sum, int64_t function, int64_t object);
int64_t function_sum_add_row(struct function_sum *sum, int64_t function, int64_t object,
			     struct location at, const char *name);

/* The same of an object or a process of the database. */
int64_t function_sum_find_other(const struct function_sum *sum, enum function_sum_kind kind,
				int64_t id);
int64_t function_sum_add_other(struct function_sum *sum, enum function_sum_kind kind, int64_t id,
			       uint32_t index);

/*
 * A process that was counted ran @executable, which may be NULL: names->processes has each once, as
 * processes of pid -1, to tell programs from libraries. 0 or -ENOMEM.
 */
int function_sum_add_executable(struct function_sum *sum, const char *executable);

/* Adds the counters and the info of a profile. 0 or -ENOMEM. */
int function_sum_add_head(struct function_sum *sum, const struct profile *profile);
/* Adds all of a finalized profile. 0 or -ENOMEM. */
int function_sum_add_profile(struct function_sum *sum, const struct profile *profile);

/* Of the window whose head was added since the counters were @before, @n_found samples match: what
 * is counted by process is added process by process. */
void function_sum_drop_counted(struct function_sum *sum, const struct profile_counters *before,
			       uint64_t n_found);

/* What is added next belongs to another part: the tallies of all rows are 0 again. */
void function_sum_begin_part(struct function_sum *sum);

/* The sum is whole; @hide_addresses as profile_redact() does. 0 or -ENOMEM. */
int function_sum_finish(struct function_sum *sum, bool hide_addresses);
