/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The branches and straight runs of one file, of all processes together: what compilers and BOLT
 * take, since each of their runs is about one program or library.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "client/export/writers.h"

/* An address that is outside of the file. */
#define CODE_COUNTS_OUTSIDE UINT64_MAX

struct code_branch {
	uint64_t from, to; /* not both outside */
	uint64_t taken, mispredicted;
};

/* From the target of a branch up to the next branch instruction, both inclusive. */
struct code_run {
	uint64_t start, end;
	uint64_t runs;
};

struct code_counts {
	const struct profile_object *object;
	struct code_branch *branches; /* by address, each pair once */
	struct code_run *runs;        /* the same */
	size_t n_branches, n_runs;
};

enum code_counts_unit {
	CODE_COUNTS_OFFSETS,   /* in the file */
	CODE_COUNTS_ADDRESSES, /* as in the file's own tables */
};

/*
 * Of the file that @input->object names; without it there must be only one file with branches.
 * -ENODATA, -EINVAL and @input->fault if there is none, there are several, or addresses are not
 * known; or -ENOMEM.
 */
int code_counts_new(struct code_counts **ret, const struct export_input *input,
		    enum code_counts_unit unit);
struct code_counts *code_counts_free(struct code_counts *counts);
DEFINE_CLEANUP(struct code_counts *, code_counts_free);
