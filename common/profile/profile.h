/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The profile: the counts of a window, of a recording, or of several profiles merged.
 *
 * A profile is a set of tables. Their keys are locations in objects, not addresses, so two profiles
 * can be compared although programs were loaded to other addresses. profile_add_*() fill the tables
 * in any order; profile_finalize() adds up the rows with equal keys and puts each table into its
 * canonical order. Two finalized profiles with the same counts are equal, row by row.
 */
#pragma once

#include <assert.h>
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
	OBJECT_MODULE, /* a kernel module; offsets count from its load address */
	OBJECT_VDSO,   /* offsets count from its start */
	OBJECT_MEMORY, /* code in anonymous memory (JIT); offsets are addresses */
	N_OBJECT_KINDS,
};

/* A location in an object. Where @object is PROFILE_NONE, @offset is the address itself. */
struct location {
	uint32_t object;
	uint64_t offset;
};

struct profile_object {
	enum object_kind kind;
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
	uint8_t n_build_id; /* 0: unknown */
	uint32_t major, minor;
	uint64_t inode;      /* 0: unknown */
	uint64_t generation; /* of the inode, until the object is named; not kept */
	const char *path;    /* as mapped; "[NAME]" of a module, "[kernel]" of the kernel */
	uint64_t base;       /* of the kernel and modules: the address of offset 0; else 0 */
	/* Somebody but root may write the file, and choose its build-id: then device, inode and the
	 * time of its last change tell it from other files with that build-id. */
	bool untrusted;
	uint64_t ctime_ns; /* 0: unknown, or not untrusted. Of the memory of a process: its start */
};

/*
 * A process from one exec (or change of its name) to the next; or those of one name, executable,
 * unit and user that have gone: where windows were merged with age, or where many came and went
 * within a window.
 */
struct profile_process {
	/* -1: samples of no process, or processes that have gone; in a window that is not named yet
	 * these have the number and the start of one of them. */
	int32_t pid;
	uint64_t start_ns;      /* 0: it started before the profile did */
	const char *comm;       /* never NULL */
	const char *executable; /* NULL: unknown */
	const char *unit;       /* NULL: unknown */
	uint32_t uid;           /* the effective user; UINT32_MAX: unknown */
	bool restricted;        /* ... may not look into it, or that is not known */
	uint64_t samples;
	uint64_t n_gone; /* the number of processes that have gone, at most; 0: it is one process */
};

struct profile_function {
	uint32_t object;
	uint64_t start; /* the offset of its first byte in the object */
	uint64_t size;
	const char *name;     /* demangled */
	uint64_t fingerprint; /* 0: not taken */
};

/*
 * What estimating adds to the variance of the count of a row. Until the profile is spread
 * (spread.h), how much of that count was not taken: a captured sample may count as several.
 */
#define PROFILE_ESTIMATED                   \
	union {                             \
		uint64_t variance, surplus; \
	}

/*
 * A node of the tree of stacks: @frame was called by the frame of @parent. Roots are the outermost
 * frames of a process.
 *
 * The location of a leaf is the sampled address. The location of a caller is the last byte of its
 * call instruction, which always lies in the caller; or the first byte, where a branch record has
 * it. No call made the frame of a signal's trampoline, so its location may lie one byte before its
 * function: see profile_place_frame().
 */
struct profile_stack {
	uint32_t parent; /* an index of this table, below the node's own; or PROFILE_NONE */
	uint32_t process;
	struct location frame;
	uint64_t samples;  /* samples with this node as their leaf */
	uint64_t stitched; /* the number of their frames that stitching added */
	uint64_t weight;   /* the sum of their periods */
	uint64_t pruned;   /* how many of the samples lack frames, because their stack was rare */
	uint64_t ticks;    /* more samples of the leaf, until they are spread (spread.h) */
	PROFILE_ESTIMATED;
};

/* A location of the frames of stacks, and its function. */
struct profile_place {
	uint64_t offset;
	uint32_t object;
	uint32_t function; /* see profile_find_function(); PROFILE_NONE where there is none */
};

/*
 * A node of the tree of streams, the branch paths that led to the samples: this branch came before
 * the branch of @parent. Roots are the newest branch records of the snapshots. A straight run,
 * which is counted as a block, joins each node to its parent.
 */
struct profile_stream {
	uint32_t parent; /* as of a stack */
	uint32_t process;
	struct location from, to;
	uint64_t hits;   /* samples whose path ends at this node */
	uint64_t pruned; /* how many of the hits had a longer path, which was rare */
	uint64_t cycles; /* of this branch, summed over the hits of this node and all below it */
	PROFILE_ESTIMATED;
};

struct profile_branch {
	uint32_t process;
	enum branch_kind kind; /* as the hardware or the kernel reported it */
	struct location from, to;
	uint64_t taken;
	uint64_t mispredicted; /* not all hardware reports predictions, ... */
	uint64_t predicted;    /* so the sum of both may be below @taken */
	uint64_t aborted;      /* those taken that aborted a transaction */
	uint64_t cycles;       /* since the branch before, summed over @cycles_rows */
	uint64_t cycles_rows;  /* branch records with a number of cycles */
	PROFILE_ESTIMATED;
};

struct profile_block {
	uint32_t process;
	uint32_t object;
	uint64_t start; /* both inclusive; @end is the offset of the branch instruction */
	uint64_t end;
	uint64_t runs;
	uint64_t cycles;
	uint64_t cycles_rows;
	PROFILE_ESTIMATED;
};

/*
 * Every sample, branch record ("row") and run is counted exactly once, either in the tables or in
 * one of the counters of what was skipped. A builder keeps these invariants, and tests check them:
 *
 *   samples taken = samples + samples_other_event + samples_guest + samples_limit
 *   rows = rows_counted + all other rows_*
 *   runs = runs_counted + all other runs_*, where a snapshot of n rows has n - 1 runs
 *   stacks_unwound = stacks_complete + stacks_no_table + stacks_copy_end + stacks_no_return +
 *                    stacks_bad_frame + some of stacks_depth_limit
 *   streams + streams_invalid + streams_limit = samples counted that have rows, without those
 *                                               whose rows are a call stack
 *
 * A counter "of samples" (streams*, stacks*, unmapped, snapshots_empty, samples_call_stack) counts
 * some of the samples counted; these overlap.
 */
#define PROFILE_COUNTERS(X)                                                                      \
	X(samples, "samples counted in the tables")                                              \
	X(samples_estimated, "samples not taken, estimated from others, to hold CpuBudget=")     \
	X(samples_variance, "what estimating adds to the variance of the samples counted")       \
	X(samples_ticked, "samples whose stacks are estimated from others, by CaptureShare=")    \
	X(stacks_variance, "what estimating stacks adds to the variance of their samples")       \
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
	X(stacks_unwound, "stacks of user code unwound from registers and a copy of the stack")  \
	X(stacks_complete, "unwound stacks that reach the start of their thread")                \
	X(stacks_by_pointer, "unwound stacks with callers found by the frame pointer")           \
	X(stacks_no_table, "unwound stacks truncated at code without an unwind table")           \
	X(stacks_copy_end, "unwound stacks truncated where the copy of the stack ends")          \
	X(stacks_no_return, "unwound stacks truncated at what is no return address")             \
	X(stacks_bad_frame, "unwound stacks truncated at a frame that cannot be right")          \
	X(stacks_32_bit, "stacks of programs of 32 bits, which are not unwound")                 \
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
	X(records_unknown, "records of a kind or form that this program cannot read")            \
	X(out_of_order, "records that came too late to be sorted by time")

struct profile_counters {
#define X(name, what) uint64_t name;
	PROFILE_COUNTERS(X)
#undef X
};

/* The origin of the profile. Unknown strings are NULL, unknown numbers 0. */
struct profile_info {
	const char *mode;  /* "recording", or the daemon's mode */
	const char *event; /* the name of the sampling event */
	const char *hostname;
	const char *os_release;
	const char *cpu;
	uint32_t n_cpus;
	uint32_t depth;    /* branch records that the hardware can hold */
	uint64_t start_ns; /* of the first and the last sample, by the recording's clock */
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

	/* Of a finalized profile: the distinct places of its stacks, sorted, and that of each. */
	struct profile_place *places;
	uint32_t *stack_places;
	size_t n_places;

	/* Private to the module. */
	size_t cap_objects, cap_processes, cap_functions, cap_stacks, cap_streams, cap_branches;
	size_t cap_blocks;
	uint32_t *outer; /* per function: the last one before it that ends behind it */
	struct strings *strings;
	bool finalized;
	bool spread; /* profile_spread_ticks() made it: its rows have variances and no surplus */
};

int profile_new(struct profile **ret);
struct profile *profile_free(struct profile *profile);
DEFINE_CLEANUP(struct profile *, profile_free);

/* The profile's own copy of @s, borrowed (NULL gives NULL). Sets *@r to -ENOMEM on failure. */
const char *profile_string(struct profile *profile, const char *s, int *r);

/*
 * Append a row and copy its strings (a NULL path, comm or function name becomes ""). Return the
 * index of the new row, or -ENOMEM. Rows refer to each other by these indices. The parent of a
 * stack or stream must exist already and be of the same process; all other rows may follow later.
 *
 * The same key may be added several times: profile_finalize() adds the counts up. Keys are
 *   object: build-id, and of an untrusted one device, inode and ctime; without a build-id, kind,
 *     path, device, inode and ctime
 *   process: all fields but samples and n_gone
 *   function: object and start
 * Where rows with one key differ in other fields, a known value wins over an unknown one, then the
 * smallest value. So the order of adding does not matter.
 */
int64_t profile_add_object(struct profile *profile, const struct profile_object *object);
int64_t profile_add_process(struct profile *profile, const struct profile_process *process);
int64_t profile_add_function(struct profile *profile, const struct profile_function *function);
int64_t profile_add_stack(struct profile *profile, const struct profile_stack *stack);
int64_t profile_add_stream(struct profile *profile, const struct profile_stream *stream);
int64_t profile_add_branch(struct profile *profile, const struct profile_branch *branch);
int64_t profile_add_block(struct profile *profile, const struct profile_block *block);

/* Room for @n more stacks, so that the table need not grow while they are added. 0 or -ENOMEM. */
int profile_reserve_stacks(struct profile *profile, size_t n);

/*
 * Adds up rows with equal keys, drops unused objects and functions, and sorts all tables. Indices
 * from before are void. After more rows were added, a profile can be finalized again. 0, or -ENOMEM
 * with the profile unchanged.
 *
 * An object is used if a stack, stream, branch or block refers to it. A function is used if one of
 * their locations lies in it, for the frames of stacks as profile_place_frame() says.
 *
 * The order, with PROFILE_NONE as the largest index: objects by kind, path, build-id, device,
 * inode and ctime; processes, functions, branches and blocks by their keys in the order of the
 * fields; stacks and streams by parent (roots first), process and frame or branch. So the children
 * of a node are neighbours.
 */
int profile_finalize(struct profile *profile);

/* New indices: object i becomes objects[i], PROFILE_NONE if it was dropped. */
struct profile_maps {
	uint32_t *objects, *processes;
};

/*
 * Finalizes a profile that is not finalized, and fills @ret, which is then the caller's to be done
 * with.
 */
int profile_finalize_maps(struct profile *profile, struct profile_maps *ret);
void profile_maps_done(struct profile_maps *maps);

/* By name, executable, user and unit: -1, 0 or 1. */
int profile_compare_programs(const struct profile_process *a, const struct profile_process *b);

/* By number, start and program: 0 if both are one process by their keys, see above. */
int profile_compare_processes(const struct profile_process *a, const struct profile_process *b);

/* True if both are one object by their keys, see above. */
bool profile_same_object(const struct profile_object *a, const struct profile_object *b);

/*
 * *@ret is a new finalized profile: the sum of @n finalized ones. Neither their order nor their
 * grouping matters. The times of its info span all profiles; where they differ in another field, it
 * is unknown, and the mode "mixed". 0 or -ENOMEM.
 */
int profile_merge(struct profile **ret, const struct profile *const *profiles, size_t n);

void profile_add_counters(struct profile_counters *sum, const struct profile_counters *counters);

/* Of all tables. */
size_t profile_n_rows(const struct profile *profile);

/*
 * Merges @info into the profile's info as profile_merge() does, or copies it if it is the first. 0
 * or -ENOMEM.
 */
int profile_add_info(struct profile *profile, const struct profile_info *info, bool is_first);

/* Of memory that its rows take. */
size_t profile_bytes(const struct profile *profile);

/* True if two finalized profiles are the same to the last count, info included. */
bool profile_equal(const struct profile *a, const struct profile *b);

/*
 * The innermost function that has @location in it: @last, the last that does not start behind it,
 * or one around that. Each is an index or PROFILE_NONE.
 */
uint32_t profile_innermost(const struct profile *profile, uint32_t last, struct location location);

/*
 * The function of a finalized profile that @location lies in, or NULL. Where functions overlap, the
 * one that starts last.
 */
const struct profile_function *profile_find_function(const struct profile *profile,
						     struct location location);

/* The same of the place of the stack @i of a finalized profile. */
static inline const struct profile_function *profile_stack_function(const struct profile *profile,
								    size_t i)
{
	uint32_t function;

	assert(profile->finalized);
	function = profile->places[profile->stack_places[i]].function;
	return function == PROFILE_NONE ? NULL : &profile->functions[function];
}

/*
 * The location by which a frame of a stack is symbolized: @frame itself; or the next byte, where
 * @frame is in no function and a function starts there. The kernel makes a signal handler return to
 * the start of a trampoline, which no instruction has called. The profile is finalized.
 */
struct location profile_place_frame(const struct profile *profile, struct location frame);

/*
 * The address to show where the symbolizer has none: the address in memory for the kernel, modules
 * and locations in no object, else the file offset.
 */
uint64_t profile_raw_address(const struct profile *profile, struct location location);
