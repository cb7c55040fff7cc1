/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Branches and straight runs for tools that lay out code anew: BOLT's pre-aggregated profile
 * (bolt/docs/profiles.md of LLVM), the unsymbolized profile of llvm-profgen, and the text profile
 * of AutoFDO's create_llvm_prof and create_gcov. Each is about one file.
 */
#include <errno.h>
#include <inttypes.h>

#include "client/export/code-counts.h"
#include "client/export/writers.h"

static void write_bolt_address(uint64_t address, FILE *f)
{
	if (address == CODE_COUNTS_OUTSIDE)
		fputs(" X:0", f);
	else
		fprintf(f, " %" PRIx64, address);
}

int bolt_write(const struct export_input *input, FILE *f)
{
	_cleanup_(code_counts_freep) struct code_counts *counts = NULL;
	int r = code_counts_new(&counts, input, CODE_COUNTS_ADDRESSES);

	if (r < 0)
		return r;
	for (size_t i = 0; i < counts->n_branches; i++) {
		const struct code_branch *branch = &counts->branches[i];

		putc('B', f);
		write_bolt_address(branch->from, f);
		write_bolt_address(branch->to, f);
		fprintf(f, " %" PRIu64 " %" PRIu64 "\n", branch->taken, branch->mispredicted);
	}
	for (size_t i = 0; i < counts->n_runs; i++)
		fprintf(f, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", counts->runs[i].start,
			counts->runs[i].end, counts->runs[i].runs);
	return 0;
}

static bool is_inside(const struct code_branch *branch)
{
	return branch->from != CODE_COUNTS_OUTSIDE && branch->to != CODE_COUNTS_OUTSIDE;
}

static void write_runs(const struct code_counts *counts, uint64_t base, FILE *f)
{
	fprintf(f, "%zu\n", counts->n_runs);
	for (size_t i = 0; i < counts->n_runs; i++)
		fprintf(f, "%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n", counts->runs[i].start - base,
			counts->runs[i].end - base, counts->runs[i].runs);
}

static void write_branches(const struct code_counts *counts, uint64_t base, FILE *f)
{
	size_t n = 0;

	for (size_t i = 0; i < counts->n_branches; i++)
		n += is_inside(&counts->branches[i]);
	fprintf(f, "%zu\n", n);
	for (size_t i = 0; i < counts->n_branches; i++) {
		const struct code_branch *branch = &counts->branches[i];

		if (is_inside(branch))
			fprintf(f, "%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n", branch->from - base,
				branch->to - base, branch->taken);
	}
}

int llvm_profgen_write(const struct export_input *input, FILE *f)
{
	_cleanup_(code_counts_freep) struct code_counts *counts = NULL;
	uint64_t base = 0;
	int r = code_counts_new(&counts, input, CODE_COUNTS_ADDRESSES);

	if (r < 0)
		return r;
	r = symbolizer_code_start(input->places.symbolizer, counts->object, &base);
	if (r < 0)
		return r;
	write_runs(counts, base, f);
	write_branches(counts, base, f);
	return 0;
}

int autofdo_write(const struct export_input *input, FILE *f)
{
	_cleanup_(code_counts_freep) struct code_counts *counts = NULL;
	int r = code_counts_new(&counts, input, CODE_COUNTS_OFFSETS);

	if (r < 0)
		return r;
	write_runs(counts, 0, f);
	fputs("0\n", f); /* addresses of samples, which branch records make superfluous */
	write_branches(counts, 0, f);
	return 0;
}
