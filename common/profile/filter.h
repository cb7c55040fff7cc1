/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filters a profile by process, object and function. */
#pragma once

#include "common/profile/profile.h"

/*
 * NULL: no condition. All conditions must hold. A list has numbers, names or shell patterns between
 * commas, of which one must match; see patterns.h.
 */
struct profile_filter {
	const char *pid;                 /* a list */
	const char *uid;                 /* a list; unknown is nobody's */
	bool visible;                    /* to their user: not those that are restricted */
	const char *comm, *exclude_comm; /* the whole name, or a list */
	const char *unit;                /* a list, also without ".service"; of a path any part */
	const char *container;           /* see container_is_in() */
	/* The processes for which it returns true. Not sent to the daemon. */
	bool (*chosen)(const struct profile_process *process, void *chosen_of);
	void *chosen_of;
	const char *object; /* see profile_object_is_in() */
	const char *symbol; /* see profile_symbol_is_in() */
	bool sources_only;  /* of branches their source has to match these, not either end */
};

#define PROFILE_FILTER_INIT ((struct profile_filter){})

/*
 * *@ret is a new finalized profile with the rows of the finalized @profile that match @filter. 0 or
 * -ENOMEM.
 *
 * pid, uid, visible, comm, exclude_comm, unit, container and chosen keep all rows of the matching
 * processes. Rows of no process match only if no such condition is set.
 *
 * object and symbol keep the rows with a location in a matching function of a matching object: the
 * leaf of a stack, the target of a stream's newest branch, either end of a branch, the start or the
 * end of a block. A location in no known function matches no symbol. The callers of a matching leaf
 * stay too, but with their own samples only if they match themselves.
 *
 * These are counted anew from the rows kept: counters.samples and weight (of stacks), streams,
 * rows_counted and cycles (of branches), runs_counted (of blocks). With object or symbol also the
 * samples of each process; processes without a row are then dropped. All other counters stay as
 * they are, because the lost or skipped events belong to no known process. So the invariants of
 * PROFILE_COUNTERS do not hold for a filtered profile.
 *
 * A filter without conditions gives a profile equal to @profile.
 */
int profile_filter(struct profile **ret, const struct profile *profile,
		   const struct profile_filter *filter);

/* Whether there is a condition on processes. */
bool profile_filter_is_by_process(const struct profile_filter *filter);

/*
 * The tables (tables.h) that it takes to show @tables of what the filter leaves: 0, all of them, if
 * it has a condition, as what is left is counted in each.
 */
unsigned int profile_filter_tables(const struct profile_filter *filter, unsigned int tables);

/* True if @process meets the conditions on processes. */
bool profile_process_matches(const struct profile_process *process,
			     const struct profile_filter *filter);

/*
 * True if @wanted is the path of @object, the last component of the path, or the build-id. A
 * " (deleted)" at the end of the path may be left out.
 */
bool profile_object_matches(const struct profile_object *object, const char *wanted);

/* True if @object matches so one of @list, or its path or the last component a pattern in it. */
bool profile_object_is_in(const struct profile_object *object, const char *list);

/*
 * Sets @ret[i] for each object i of the finalized @profile: whether it is in @list. Files with one
 * build-id are one object, under one of their paths: if none is in the list, it is the program of a
 * process whose executable is. Programs have a main(), or are an executable. 0 or -ENOMEM.
 */
int profile_select_objects(const struct profile *profile, const char *list, bool *ret);

/*
 * True if @wanted is the demangled @name. It may leave out, in this order: the parameters with all
 * that follows, the return type (which templates have), the template arguments. So "ns::f<long>"
 * and "ns::f" match "int ns::f<long>(char)".
 */
bool profile_symbol_matches(const char *name, const char *wanted);

/* True if @name matches so one of @list, or a pattern in it, with parameters or without. */
bool profile_symbol_is_in(const char *name, const char *list);
