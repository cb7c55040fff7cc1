/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* truth: what really happened, written beside the recording as tab-separated files. README.md
 * describes each file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct insn;
struct lbr_record;
struct mapping;
struct event_origin;
struct options;
struct recorded_sample;
struct shadow;
struct truth;

/* One execution of a branch instruction. */
struct branch {
	const struct insn *insn;
	uint64_t image;
	uint64_t run_start; /* where the straight run that it ends began */
	uint64_t target;
	uint64_t cycles;
	bool taken;
	bool mispredicted;
};

/* Negative errno. */
int truth_new(struct truth **ret, const struct options *options);
int truth_finish(struct truth *t);
struct truth *truth_free(struct truth *t);

void truth_add_branch(struct truth *t, const struct branch *b);
void truth_add_insns(struct truth *t, uint64_t n);
void truth_add_sample(struct truth *t, const struct event_origin *m, uint64_t image,
		      const struct recorded_sample *s, uint64_t hw_idx, const struct shadow *stack);
/* Control went to @ip otherwise than by a call or its return, and the stack is @stack now. */
void truth_add_jump(struct truth *t, uint64_t time, pid_t tid, uint64_t ip,
		    const struct shadow *stack);
void truth_add_image(struct truth *t, const struct event_origin *m, uint64_t image, const char *why,
		     const char *comm);
void truth_add_mapping(struct truth *t, const struct event_origin *m, uint64_t image,
		       const struct mapping *mapping);
void truth_add_task(struct truth *t, const struct event_origin *m, pid_t ppid, uint64_t n_insns,
		    uint64_t n_taken, const char *comm);
