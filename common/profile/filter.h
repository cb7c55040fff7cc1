/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A part of a profile: the processes, objects and functions somebody asked for.
 */
#pragma once

#include "common/profile/profile.h"

/* Any field NULL, or -1: not asked for. Several conditions must all hold. */
struct profile_filter {
	int64_t pid;
	int64_t uid;
	const char *comm;   /* exactly */
	const char *unit;   /* exactly, or without ".service" */
	const char *object; /* see profile_object_matches() */
	const char *symbol; /* see profile_symbol_matches() */
};

#define PROFILE_FILTER_INIT ((struct profile_filter){ .pid = -1, .uid = -1 })

/*
 * *@ret is a new sealed profile of what @filter keeps of the sealed @profile. 0 or -ENOMEM.
 *
 * pid, uid, comm and unit keep a process with all it has; what belongs to no process is kept only
 * if none of them is asked for. object and symbol keep the stacks whose leaf, the streams whose
 * newest row's target, the branches of which either end, and the blocks of which the start or the
 * end lies there: in a function that matches in an object that matches. A place whose function is
 * not known matches no symbol. Of stacks also the callers stay, without the samples they are leaf
 * of themselves unless they match too.
 *
 * Counted anew from the rows kept: counters.samples and weight (of stacks), streams, rows_counted
 * and cycles (of branches), runs_counted (of blocks), and, if object or symbol is asked for, each
 * process's samples; then processes of which no row is left are dropped. All other counters stay,
 * for nobody knows whose the lost ones were, so that the sums in profile.h do not hold for a part.
 * A filter that asks for nothing gives a profile equal to @profile.
 */
int profile_filter(struct profile **ret, const struct profile *profile,
		   const struct profile_filter *filter);

/* True if all that @filter asks of a process is so of @process. */
bool profile_process_matches(const struct profile_process *process,
			     const struct profile_filter *filter);

/* True if @wanted is @object's path or its last component, either without a " (deleted)" too, or
 * its build-id. */
bool profile_object_matches(const struct profile_object *object, const char *wanted);

/*
 * True if @wanted is the demangled @name, or what is left of it without, in this order, what comes
 * from the '(' of its parameters on, its return type (which templates have), and its template
 * arguments. So "int ns::f<long>(char)" is also "int ns::f<long>", "ns::f<long>" and "ns::f".
 */
bool profile_symbol_matches(const char *name, const char *wanted);
