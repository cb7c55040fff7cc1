/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * truth: what really happened, written beside the recording as tab-separated files.
 *
 * Three files grow as the program runs (samples, images with their mappings, tasks); the others are
 * tables of counters that are written at the end, sorted. Addresses are the program's own; an image
 * number identifies an address space. README.md describes each file and column.
 */
#include "tests/simulator/truth.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulator/code.h"
#include "tests/simulator/lbr.h"
#include "tests/simulator/options.h"
#include "tests/simulator/recording.h"
#include "tests/simulator/shadow.h"
#include "tests/simulator/space.h"
#include "tests/simulator/table.h"

struct truth {
	const struct options *options;
	FILE *samples;
	FILE *jumps;
	FILE *images;
	FILE *maps;
	FILE *tasks;
	struct table pairs; /* of the branch records written */
	struct table runs;  /* between adjacent branch records written */
	struct table ips;   /* of the samples written */
	struct table taken; /* of the whole run, as the rest */
	struct table conditionals;
	struct table blocks;
	uint64_t n_insns;
	uint64_t n_taken;
	uint64_t n_samples;
	uint64_t n_rows;
};

static FILE *truth_open(const struct truth *t, const char *name, const char *columns)
{
	const struct options *o = t->options;
	char *path = NULL;
	FILE *f;

	if (asprintf(&path, "%s.%s.tsv", o->truth ? o->truth : o->output, name) < 0)
		return NULL;
	f = fopen(path, "we");
	if (!f)
		fprintf(stderr, "branch-simulator: %s: %m\n", path);
	else
		fprintf(f, "#%s\n", columns);
	free(path);
	return f;
}

int truth_new(struct truth **ret, const struct options *options)
{
	struct truth *t;

	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->options = options;
	t->samples = truth_open(t, "samples",
				"n\ttime\tpid\ttid\tcpu\timage\tperiod\tip\trows\tstale\thw_"
				"idx\tstack\tshown\theld\tjumping");
	t->jumps = truth_open(t, "jumps", "time\ttid\tstack");
	t->images = truth_open(t, "images", "image\tpid\ttime\twhy\tcomm");
	t->maps = truth_open(t, "maps", "image\tpid\ttime\tstart\tend\tpgoff\tpath");
	t->tasks = truth_open(t, "tasks", "pid\ttid\tppid\ttime\tinstructions\ttaken\tcomm");
	if (!t->samples || !t->jumps || !t->images || !t->maps || !t->tasks) {
		truth_free(t);
		return -EIO;
	}
	*ret = t;
	return 0;
}

static void file_close(FILE *f)
{
	if (f)
		fclose(f);
}

struct truth *truth_free(struct truth *t)
{
	if (!t)
		return NULL;
	file_close(t->samples);
	file_close(t->jumps);
	file_close(t->images);
	file_close(t->maps);
	file_close(t->tasks);
	table_done(&t->pairs);
	table_done(&t->runs);
	table_done(&t->ips);
	table_done(&t->taken);
	table_done(&t->conditionals);
	table_done(&t->blocks);
	free(t);
	return NULL;
}

/* Growing: while the program runs. */

static void truth_add_conditional(struct truth *t, const struct branch *b)
{
	const uint64_t add[4] = { 1, b->taken, b->mispredicted, 0 };

	table_add(&t->conditionals, b->image, b->insn->addr, b->insn->target, add);
}

void truth_add_branch(struct truth *t, const struct branch *b)
{
	const uint64_t taken[4] = { 1, b->mispredicted, b->cycles, b->insn->kind };
	const uint64_t block[4] = { 1, b->cycles, 0, 0 };

	if (b->insn->kind == INSN_CONDITIONAL)
		truth_add_conditional(t, b);
	if (!b->taken)
		return;
	t->n_taken++;
	table_add(&t->taken, b->image, b->insn->addr, b->target, taken);
	table_add(&t->blocks, b->image, b->run_start, b->insn->addr, block);
}

void truth_add_insns(struct truth *t, uint64_t n)
{
	t->n_insns += n;
}

static void truth_add_records(struct truth *t, const struct lbr_record *rows, size_t n_rows)
{
	size_t i;

	t->n_rows += n_rows;
	for (i = 0; i < n_rows; i++) {
		const uint64_t pair[4] = { 1, rows[i].mispredicted, rows[i].cycles, 0 };
		const uint64_t run[4] = { 1, rows[i].cycles, rows[i].broken, 0 };

		table_add(&t->pairs, rows[i].image, rows[i].from, rows[i].to, pair);
		if (t->options->is_stack || i + 1 == n_rows)
			continue;
		/* a run between two images is none, but a reader that knows no better counts it:
		 * under the newer's image */
		table_add(&t->runs, rows[i].image, rows[i + 1].to, rows[i].from, run);
	}
}

static void write_stack(FILE *f, uint64_t ip, const struct shadow *stack)
{
	const struct shadow_entry *e;
	const struct shadow *s;
	size_t i;

	fprintf(f, "%#" PRIx64, ip);
	for (s = stack; s; s = s->interrupted)
		for (i = s->n_entries; i > 0; i--) {
			e = &s->entries[i - 1];
			fprintf(f, ";%s%#" PRIx64 "/%#" PRIx64, e->is_signal ? "!" : "", e->call,
				e->return_addr);
		}
}

static size_t count_stale_records(const struct lbr_record *rows, size_t n_rows, uint64_t image)
{
	size_t i, n = 0;

	for (i = 0; i < n_rows; i++)
		n += rows[i].image != image;
	return n;
}

void truth_add_sample(struct truth *t, const struct event_origin *m, uint64_t image,
		      const struct recorded_sample *s, uint64_t hw_idx, const struct shadow *stack)
{
	const uint64_t one[4] = { 1, s->period, 0, 0 };

	table_add(&t->ips, image, s->ip, 0, one);
	truth_add_records(t, s->rows, s->n_rows);
	fprintf(t->samples,
		"%" PRIu64 "\t%" PRIu64 "\t%u\t%u\t%u\t%" PRIu64 "\t%" PRIu64 "\t%#" PRIx64
		"\t%zu\t%zu\t%" PRId64 "\t",
		t->n_samples++, m->time, m->pid, m->tid, m->cpu, image, s->period, s->ip, s->n_rows,
		count_stale_records(s->rows, s->n_rows, image), (int64_t)hw_idx);
	write_stack(t->samples, s->ip, stack);
	fprintf(t->samples, "\t%zu\t%zu\t%d\n", shadow_count_shown(stack), s->n_held,
		s->is_jumping);
}

void truth_add_jump(struct truth *t, uint64_t time, pid_t tid, uint64_t ip,
		    const struct shadow *stack)
{
	fprintf(t->jumps, "%" PRIu64 "\t%d\t", time, (int)tid);
	write_stack(t->jumps, ip, stack);
	fputc('\n', t->jumps);
}

void truth_add_image(struct truth *t, const struct event_origin *m, uint64_t image, const char *why,
		     const char *comm)
{
	fprintf(t->images, "%" PRIu64 "\t%u\t%" PRIu64 "\t%s\t%s\n", image, m->pid, m->time, why,
		comm);
}

void truth_add_mapping(struct truth *t, const struct event_origin *m, uint64_t image,
		       const struct mapping *mapping)
{
	fprintf(t->maps,
		"%" PRIu64 "\t%u\t%" PRIu64 "\t%#" PRIx64 "\t%#" PRIx64 "\t%#" PRIx64 "\t%s\n",
		image, m->pid, m->time, mapping->start, mapping->end, mapping->pgoff,
		mapping->path);
}

void truth_add_task(struct truth *t, const struct event_origin *m, pid_t ppid, uint64_t n_insns,
		    uint64_t n_taken, const char *comm)
{
	fprintf(t->tasks, "%u\t%u\t%d\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%s\n", m->pid, m->tid,
		(int)ppid, m->time, n_insns, n_taken, comm);
}

/* At the end: the tables. */

static int file_finish(FILE *f)
{
	int r = ferror(f) ? -EIO : 0;

	return fclose(f) ? -EIO : r;
}

/* Image, n_keys addresses, n_counts counters. */
static int truth_write_table(const struct truth *t, struct table *table, const char *name,
			     const char *columns, int n_keys, int n_counts)
{
	const struct table_entry *entries;
	size_t i, n;
	FILE *f;
	int j;

	f = truth_open(t, name, columns);
	if (!f)
		return -EIO;
	entries = table_sort(table, &n);
	for (i = 0; i < n; i++) {
		fprintf(f, "%" PRIu64, entries[i].key[0]);
		for (j = 1; j <= n_keys; j++)
			fprintf(f, "\t%#" PRIx64, entries[i].key[j]);
		for (j = 0; j < n_counts; j++)
			fprintf(f, "\t%" PRIu64, entries[i].count[j]);
		fputc('\n', f);
	}
	return file_finish(f);
}

static int truth_write_taken(const struct truth *t, struct table *table)
{
	static const char *const kinds[] = {
		[INSN_CONDITIONAL] = "conditional",     [INSN_JUMP] = "jump",
		[INSN_JUMP_INDIRECT] = "indirect-jump", [INSN_CALL] = "call",
		[INSN_CALL_INDIRECT] = "indirect-call", [INSN_RETURN] = "return",
	};
	const struct table_entry *e;
	size_t i, n;
	FILE *f;

	f = truth_open(t, "taken", "image\tfrom\tto\tcount\tmispredicted\tcycles\tkind");
	if (!f)
		return -EIO;
	e = table_sort(table, &n);
	for (i = 0; i < n; i++, e++)
		fprintf(f,
			"%" PRIu64 "\t%#" PRIx64 "\t%#" PRIx64 "\t%" PRIu64 "\t%" PRIu64
			"\t%" PRIu64 "\t%s\n",
			e->key[0], e->key[1], e->key[2], e->count[0], e->count[1], e->count[2],
			kinds[e->count[3] / e->count[0]]);
	return file_finish(f);
}

static int truth_write_totals(const struct truth *t)
{
	const struct options *o = t->options;
	FILE *f;

	f = truth_open(t, "totals", "what\tvalue");
	if (!f)
		return -EIO;
	fprintf(f, "instructions\t%" PRIu64 "\n", t->n_insns);
	fprintf(f, "taken\t%" PRIu64 "\n", t->n_taken);
	fprintf(f, "samples\t%" PRIu64 "\n", t->n_samples);
	fprintf(f, "rows\t%" PRIu64 "\n", t->n_rows);
	fprintf(f, "depth\t%u\n", o->n_rows);
	fprintf(f, "period\t%" PRIu64 "\n", o->period);
	fprintf(f, "seed\t%" PRIu64 "\n", o->seed);
	fprintf(f, "mode\t%s\n", o->is_stack ? "stack" : "branch");
	return file_finish(f);
}

int truth_finish(struct truth *t)
{
	int r, first = 0;

	r = truth_write_table(t, &t->pairs, "pairs", "image\tfrom\tto\tcount\tmispredicted\tcycles",
			      2, 3);
	first = first ? first : r;
	r = truth_write_table(t, &t->runs, "runs", "image\tbegin\tend\tcount\tcycles\tbroken", 2,
			      3);
	first = first ? first : r;
	r = truth_write_table(t, &t->ips, "ips", "image\tip\tcount\tperiods", 1, 2);
	first = first ? first : r;
	r = truth_write_taken(t, &t->taken);
	first = first ? first : r;
	r = truth_write_table(t, &t->conditionals, "conditionals",
			      "image\taddress\ttarget\texecuted\ttaken\tmispredicted", 2, 3);
	first = first ? first : r;
	r = truth_write_table(t, &t->blocks, "blocks", "image\tbegin\tend\tcount\tcycles", 2, 2);
	first = first ? first : r;
	r = truth_write_totals(t);
	return first ? first : r;
}
