/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The profile: what a window, a recording, or a merge of either holds.
 *
 * Tables of counts whose keys are places in objects, so that two profiles can be compared though
 * programs were loaded elsewhere. It is filled by profile_add_*() in any order, then sealed: equal
 * keys are added up and every table is put into its one canonical order. A sealed profile is not
 * changed any more, and two that hold the same are the same, row by row.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/profile/branch-kind.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

#define PROFILE_NONE         UINT32_MAX /* no parent, no object, no process, no function */
#define PROFILE_BUILD_ID_MAX 20

enum object_kind {
	OBJECT_FILE,   /* an ELF file, or any other mapped file; offsets are file offsets */
	OBJECT_KERNEL, /* offsets count from its reference symbol (_text or _stext), modulo 2^64 */
	OBJECT_MODULE, /* a kernel module; offsets count from where it was loaded */
	OBJECT_VDSO,   /* offsets count from its start */
	OBJECT_MEMORY, /* code in anonymous memory (a JIT's); offsets are addresses */
	N_OBJECT_KINDS,
};

/* A place in an object; in none (PROFILE_NONE), and then @offset is the address itself. */
struct location {
	uint32_t object;
	uint64_t offset;
};

struct profile_object {
	enum object_kind kind;
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
	uint8_t n_build_id; /* 0 where it is not known */
	uint32_t major, minor;
	uint64_t inode; /* 0 where it is not known */
	const char
		*path; /* as mapped, of a module its name in brackets, of the kernel "[kernel]" */
	uint64_t base; /* kernel, modules: the address of offset 0; else 0 */
};

/* A process between two execs or changes of its name. */
struct profile_process {
	int32_t pid;            /* -1 for samples of no process */
	uint64_t start_ns;      /* 0 where it began before the profile did */
	const char *comm;       /* never NULL */
	const char *executable; /* NULL where unknown, as are the next */
	const char *unit;
	uint32_t uid; /* UINT32_MAX where unknown */
	uint64_t samples;
};

struct profile_function {
	uint32_t object;
	uint64_t start; /* the offset of its first byte, in the terms of its object */
	uint64_t size;
	const char *name;     /* demangled */
	uint64_t fingerprint; /* 0 where it was not taken */
};

/*
 * A node of the tree of stacks: the frame @frame called by the frame of @parent. Rooted at the
 * outermost frame of a process. A caller's location is the last byte of its call instruction, so
 * that it lies in the caller whatever follows the call; or the first one, where a branch row tells
 * it. A leaf's is the sampled address. A frame that no call made, a signal's trampoline, may so lie
 * one byte before its function: see profile_place_frame().
 */
struct profile_stack {
	uint32_t parent; /* an index of the table, less than the node's own; or PROFILE_NONE */
	uint32_t process;
	struct location frame;
	uint64_t samples;  /* those whose leaf this node is */
	uint64_t stitched; /* their frames that are from earlier samples, summed */
	uint64_t weight;   /* the sum of their periods */
	uint64_t pruned;   /* of the samples, those of light stacks, frames left out */
};

/*
 * A node of the tree of streams, the branch paths that led to the samples: before the row of
 * @parent came this one. Rooted at the newest row of a snapshot; each next one is joined to it by a
 * run that is counted as a block.
 */
struct profile_stream {
	uint32_t parent; /* as of a stack */
	uint32_t process;
	struct location from, to;
	uint64_t hits;   /* samples whose path this is */
	uint64_t pruned; /* of these, those of a light path that goes on from here */
	uint64_t cycles; /* of this row, summed over the hits here and in all nodes below */
};

struct profile_branch {
	uint32_t process;
	enum branch_kind kind; /* as the hardware or the kernel told it */
	struct location from, to;
	uint64_t taken;
	uint64_t mispredicted; /* of these, and the next: neither is said by all hardware */
	uint64_t predicted;
	uint64_t aborted;
	uint64_t cycles; /* since the branch before, summed over the rows that had them: */
	uint64_t cycles_rows;
};

struct profile_block {
	uint32_t process;
	uint32_t object;
	uint64_t start; /* offsets, both inclusive: @end is the branch instruction */
	uint64_t end;
	uint64_t runs;
	uint64_t cycles;
	uint64_t cycles_rows;
};

/*
 * Every sample, branch record ("row") and run is counted exactly once, either in the tables or in
 * one of the counters of what was skipped. A builder keeps these invariants, and tests check them:
 *
 *   samples taken = samples + samples_other_event + samples_guest + samples_limit
 *   rows = rows_counted + all other rows_*
 *   runs = runs_counted + all other runs_*, where a snapshot of n rows has n - 1 runs
 *   streams + streams_invalid + streams_limit = samples counted that have rows, without those
 *                                               whose rows are a call stack
 *
 * A counter "of samples" (streams*, stacks*, unmapped, snapshots_empty, samples_call_stack) counts
 * some of the samples counted; these overlap.
 */
#define PROFILE_COUNTERS(X)                                                                      \
	X(samples, "samples counted in the tables")                                              \
	X(weight, "sum of the periods of the samples counted")                                   \
	X(rows, "branch records read")                                                           \
	X(rows_counted, "branch records counted as branches")                                    \
	X(runs, "straight runs between adjacent branch records")                                 \
	X(runs_counted, "runs counted as blocks")                                                \
	X(cycles, "cycles of the branch records counted")                                        \
	X(snapshots_empty, "samples with an empty branch stack")                                 \
	X(samples_call_stack, "samples whose branch records are a call stack")                   \
	X(stacks_since_switch, "stacks that reach back to the last task switch only")            \
	X(streams, "samples whose branch path was counted")                                      \
	X(streams_pruned, "samples on pruned branch paths, counted at the newer part")           \
	X(streams_error, "upper bound of the samples pruned from one branch path")               \
	X(streams_invalid, "samples without a branch path: the newest branch record is invalid") \
	X(streams_limit, "samples without a branch path: it was pruned")                         \
	X(unmapped, "samples at an address outside of all known objects")                        \
	X(samples_other_event, "samples of other events, skipped")                               \
	X(samples_guest, "samples in virtual machines, skipped")                                 \
	X(samples_limit, "samples skipped: a table was full")                                    \
	X(stacks_pruned, "samples on pruned stacks, counted without some callers")               \
	X(stacks_error, "upper bound of the samples pruned from one stack")                      \
	X(stacks_truncated, "stacks truncated at an invalid frame pointer")                      \
	X(stacks_depth_limit, "stacks truncated at the depth limit")                             \
	X(stacks_stitched, "stacks stitched with earlier samples")                               \
	X(stacks_unaligned, "unaligned stacks: nothing in common with earlier samples")          \
	X(stacks_ambiguous, "ambiguous stacks: several alignments with earlier samples")         \
	X(stacks_inconsistent, "inconsistent stacks: truncated at a contradictory call")         \
	X(tasks_evicted, "remembered stacks of tasks, evicted")                                  \
	X(rows_skipped_samples, "branch records of skipped samples")                             \
	X(rows_zero, "branch records with a zero address, skipped")                              \
	X(rows_wrong_path, "branch records of a wrong speculation path, skipped")                \
	X(rows_duplicate, "duplicate branch records, skipped")                                   \
	X(rows_call_stack, "branch records of the call-stack mode (no branches), skipped")       \
	X(rows_limit, "branch records skipped: a table was full")                                \
	X(runs_skipped_samples, "runs of skipped samples")                                       \
	X(runs_skipped_rows, "runs next to a skipped branch record, skipped")                    \
	X(runs_filtered, "runs between filtered branches, skipped")                              \
	X(runs_call_stack, "runs of the call-stack mode, skipped")                               \
	X(runs_backward, "runs that end before they start, skipped")                             \
	X(runs_across, "runs across two objects or in none, skipped")                            \
	X(runs_long, "runs longer than 1 MiB, skipped")                                          \
	X(runs_limit, "runs skipped: a table was full")                                          \
	X(lost_records, "records lost by the kernel: its buffer was full")                       \
	X(lost_samples, "samples lost by the kernel")                                            \
	X(skipped, "samples due but not taken by the kernel")                                    \
	X(throttled, "times the kernel throttled sampling")                                      \
	X(out_of_order, "records that came too late to be sorted by time")

struct profile_counters {
#define X(name, what) uint64_t name;
	PROFILE_COUNTERS(X)
#undef X
};

/* Where the profile is from; strings are NULL, numbers 0 where unknown. */
struct profile_info {
	const char *mode;  /* "recording", or the daemon's mode */
	const char *event; /* the name of the sampling event */
	const char *hostname;
	const char *os_release;
	const char *cpu;
	uint32_t n_cpus;
	uint32_t depth;    /* rows the hardware can hold */
	uint64_t start_ns; /* of its first and last sample, by the recording's clock */
	uint64_t end_ns;
};

struct profile {
	struct profile_info info;
	struct profile_counters counters;
	struct profile_object *objects;
	struct profile_process *processes;
	struct profile_function *functions;
	struct profile_stack *stacks;
	struct profile_stream *streams;
	struct profile_branch *branches;
	struct profile_block *blocks;
	size_t n_objects, n_processes, n_functions, n_stacks, n_streams, n_branches, n_blocks;

	/* The module's own: capacities, strings, whether it is sealed. */
	size_t cap_objects, cap_processes, cap_functions, cap_stacks, cap_streams, cap_branches;
	size_t cap_blocks;
	uint32_t *outer; /* per function, the last one before it that reaches further than it */
	struct strings *strings;
	bool finalized;
};

int profile_new(struct profile **ret);
struct profile *profile_free(struct profile *profile);
DEFINE_CLEANUP(struct profile *, profile_free);

/* Borrows the profile's own copy of @s (NULL gives NULL); sets *@r to -ENOMEM where it must. */
const char *profile_string(struct profile *profile, const char *s, int *r);

/*
 * Append a row; what it points to is copied (a NULL path, comm or function name becomes ""). The
 * index of the new row, or -ENOMEM. References between rows are such indices; a stack's or stream's
 * parent must be there already and be of the same process, everything else may follow. Equal keys
 * may be added several times: sealing adds them up. The key of an object is its build-id, or where
 * that is unknown kind, path, device and inode; of a process pid, start, comm and executable; of a
 * function object and start. Where rows of one key differ in what is no count, the known wins over
 * the unknown and then the smallest, so that the order of adding does not matter.
 */
int64_t profile_add_object(struct profile *profile, const struct profile_object *object);
int64_t profile_add_process(struct profile *profile, const struct profile_process *process);
int64_t profile_add_function(struct profile *profile, const struct profile_function *function);
int64_t profile_add_stack(struct profile *profile, const struct profile_stack *stack);
int64_t profile_add_stream(struct profile *profile, const struct profile_stream *stream);
int64_t profile_add_branch(struct profile *profile, const struct profile_branch *branch);
int64_t profile_add_block(struct profile *profile, const struct profile_block *block);

/*
 * Adds up equal keys, drops objects that no stack, stream, branch or block refers to and functions
 * that no place in these lies in (in one of size 0 none does; a stack's frame lies where
 * profile_place_frame() says), sorts; indices handed out before are void. After more was added it
 * can be sealed again. 0, or -ENOMEM with everything as it was.
 *
 * The order, PROFILE_NONE being the largest: objects by kind, path, build-id, device and inode;
 * processes, functions, branches and blocks by their keys in the order of the fields; stacks and
 * streams by parent (roots first), process and frame or row, so that the children of a node are
 * neighbours.
 */
int profile_finalize(struct profile *profile);

/*
 * The same of one that is not sealed; (*@ret_objects)[i], for the caller to free, is what object i
 * is now: PROFILE_NONE where it was dropped.
 */
int profile_finalize_objects(struct profile *profile, uint32_t **ret_objects);

/*
 * *@ret is a new sealed profile: all of @n sealed ones added up, whatever their order and grouping.
 * Its info spans all their times; what differs otherwise is unknown, but a mode "mixed". 0 or
 * -ENOMEM.
 */
int profile_merge(struct profile **ret, const struct profile *const *profiles, size_t n);

/*
 * Adds where more of the profile is from: the times then span both, and what differs otherwise is
 * unknown, but a mode "mixed". The first @info that is added stays as it is. 0 or -ENOMEM.
 */
int profile_add_info(struct profile *profile, const struct profile_info *info, bool is_first);

/* True if two sealed profiles hold the same, to the last count, info included. */
bool profile_equal(const struct profile *a, const struct profile *b);

/*
 * The function that @location lies in, or NULL; of several the one that starts last. Of a sealed
 * profile.
 */
const struct profile_function *profile_find_function(const struct profile *profile,
						     struct location location);

/*
 * The place by which a stack's frame is named: its own; or, where that is in no function and one
 * begins at the next byte, this. The kernel has a signal's handler return to the very start of a
 * trampoline, which nothing has called. Of a sealed profile.
 */
struct location profile_place_frame(const struct profile *profile, struct location frame);

/*
 * The address for people: in the ELF file's own terms that needs its headers, so that is the
 * symbolizer's; this is the one in memory for kernel, modules and no object, else the file offset.
 */
uint64_t profile_raw_address(const struct profile *profile, struct location location);
