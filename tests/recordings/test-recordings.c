/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The engine against whole recordings: those in the folder $BRANCHD_RECORDINGS, which others made
 * on real hardware, or which make-recordings made.
 *
 * Each is counted twice: by the engine, and row by row by tests/naive/count.c. The naive counts of
 * raw addresses must equal pairs.tsv and runs.tsv, on which three other readers agree, or which
 * follow from the simulator's truth.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/builder/load.h"
#include "common/util/cleanup.h"
#include "tests/naive/count.h"

#define MAX_TESTS 40

/* What is known of a recording from elsewhere. */
struct known_recording {
	const char *name;
	uint32_t duplicate_depth; /* of a snapshot whose newest record may be there twice */
	uint64_t n_samples, n_rows, n_duplicates;
	/* Are the published numbers those of @naive, which skips no duplicate? */
	void (*check)(const struct naive_counts *naive, struct naive *places);
};

struct counted {
	struct naive naive;
	struct naive_counts expected, got;
	uint64_t n_samples;
};

static const char *folder(void)
{
	return getenv("BRANCHD_RECORDINGS");
}

static char *path_of(const char *name, const char *file)
{
	char *path;

	assert_true(asprintf(&path, "%s/%s/%s", folder(), name, file) > 0);
	return path;
}

/* Reads the table of @file: two addresses and a count in each line. */
static void read_table(struct tally *ret, const char *name, const char *file)
{
	_cleanup_free_ char *path = path_of(name, file);
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	struct tally_entry e = { 0 };

	assert_non_null(f);
	while (fscanf(f, "%" SCNx64 " %" SCNx64 " %" SCNu64, &e.key[0], &e.key[1], &e.count[0]) ==
	       3)
		tally_add(ret, &e);
	assert_true(feof(f));
	tally_merge(ret);
}

static void count_naively(struct counted *c, const char *path, uint32_t duplicate_depth)
{
	_cleanup_(recording_freep) struct recording *r = NULL;
	struct naive_rules rules = { .duplicate_depth = duplicate_depth };
	struct fault fault;
	struct event e;
	int k;

	assert_int_equal(recording_open(&r, path, false, &fault), 0);
	while ((k = recording_next(r, &e, &fault)) > 0) {
		naive_apply(&c->naive, &e);
		if (e.kind == EVENT_SAMPLE)
			rules.source = (uint32_t)load_choose_source(r, NULL, &fault);
		naive_count(&c->expected, &c->naive, &rules, &e);
		c->n_samples += e.kind == EVENT_SAMPLE;
	}
	if (k < 0)
		fail_msg("%s", fault.text);
	c->expected.counters.out_of_order = recording_n_out_of_order(r);
	c->expected.counters.records_unknown = recording_n_unknown(r);
	naive_counts_merge(&c->expected);
}

static void count_by_engine(struct counted *c, const char *path)
{
	_cleanup_(profile_freep) struct profile *profile = NULL;
	_cleanup_free_ char *others = NULL;
	struct load_settings settings = { 0 };
	struct recording_damage damage;
	struct fault fault;

	if (load_profile(&profile, path, &settings, &damage, &others, &fault) < 0)
		fail_msg("%s", fault.text);
	assert_int_equal(damage.n_bytes_lost, 0);
	assert_int_equal(profile_finalize(profile), 0);
	naive_count_profile(&c->got, &c->naive, profile);
	naive_counts_merge(&c->got);
}

static void counted_init(struct counted *c)
{
	*c = (struct counted){ 0 };
	naive_init(&c->naive);
}

static void counted_done(struct counted *c)
{
	naive_counts_done(&c->expected);
	naive_counts_done(&c->got);
	naive_done(&c->naive);
}

/* The published numbers; those who published them counted every row. */
static void check_published(const struct known_recording *known, const char *path)
{
	struct counted c;

	counted_init(&c);
	count_naively(&c, path, 0);
	known->check(&c.expected, &c.naive);
	counted_done(&c);
}

static void test_counts_what_others_read(void **state)
{
	const struct known_recording *known = *state;
	_cleanup_free_ char *path = path_of(known->name, "perf.data");
	struct tally pairs = { 0 }, runs = { 0 };
	struct counted c;

	read_table(&pairs, known->name, "pairs.tsv");
	read_table(&runs, known->name, "runs.tsv");
	counted_init(&c);
	count_naively(&c, path, known->duplicate_depth);
	count_by_engine(&c, path);
	assert_true(tally_equal(&c.expected.pairs, &pairs, "pairs.tsv"));
	assert_true(tally_equal(&c.expected.runs, &runs, "runs.tsv"));
	assert_true(naive_counts_equal(&c.got, &c.expected));
	assert_true(naive_counters_balance(&c.got.counters, c.n_samples));
	assert_int_equal(c.n_samples, known->n_samples);
	assert_int_equal(c.got.counters.rows, known->n_rows);
	assert_int_equal(c.got.counters.rows_duplicate, known->n_duplicates);
	if (known->check)
		check_published(known, path);
	tally_done(&pairs);
	tally_done(&runs);
	counted_done(&c);
}

/* What the simulator wrote, and says that it wrote. */
static void test_counts_what_was_simulated(void **state)
{
	struct known_recording known = { .name = strrchr(*state, '/') + 1 };
	_cleanup_free_ char *path = path_of(known.name, "counts.tsv");
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	void *test = &known;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%" SCNu64 " %" SCNu64, &known.n_samples, &known.n_rows), 2);
	assert_true(known.n_samples > 0 && known.n_rows > 0);
	test_counts_what_others_read(&test);
}

static void test_counts_a_format(void **state)
{
	struct counted c;

	counted_init(&c);
	count_naively(&c, *state, 0);
	count_by_engine(&c, *state);
	assert_true(naive_counts_equal(&c.got, &c.expected));
	assert_true(naive_counters_balance(&c.got.counters, c.n_samples));
	assert_true(c.n_samples > 0);
	counted_done(&c);
}

/* Sums over the blocks of one object: those that reach over @from to @to. */
struct block_sum {
	uint64_t n, runs, bytes;
};

static struct block_sum sum_blocks(const struct tally *blocks, uint64_t object, uint64_t from,
				   uint64_t to)
{
	struct block_sum sum = { 0 };

	for (size_t i = 0; i < blocks->n; i++) {
		const struct tally_entry *e = &blocks->entries[i];

		if (e->key[1] != object || e->key[2] > from || e->key[3] < to)
			continue;
		sum.n++;
		sum.runs += e->count[0];
		sum.bytes += e->count[0] * (e->key[3] - e->key[2] + 1);
	}
	return sum;
}

static uint64_t taken(const struct tally *branches, uint64_t object, uint64_t from, uint64_t to)
{
	uint64_t n = 0;

	for (size_t i = 0; i < branches->n; i++) {
		const struct tally_entry *e = &branches->entries[i];

		if (e->key[1] == object && e->key[2] == from && e->key[3] == object &&
		    e->key[4] == to)
			n += e->count[0];
	}
	return n;
}

/* As the project that made the recording has them in its own tests. */
static void check_westmere(const struct naive_counts *c, struct naive *naive)
{
	uint64_t gzip = naive_object(naive, "/export/hda3/tmp/test.binary");
	struct block_sum all = sum_blocks(&c->blocks, gzip, UINT64_MAX, 0);

	assert_int_equal(all.n, 357);
	assert_int_equal(all.runs, 134677);
	assert_int_equal(all.bytes, 5390972);
	all = (struct block_sum){ 0 };
	for (size_t i = 0; i < c->blocks.n; i++)
		if (c->blocks.entries[i].key[1] == gzip && c->blocks.entries[i].key[2] == 0x4e80 &&
		    c->blocks.entries[i].key[3] == 0x4e8e)
			all.runs += c->blocks.entries[i].count[0];
	assert_int_equal(all.runs, 1134);
}

static void check_three_processes(const struct naive_counts *c, struct naive *naive)
{
	uint64_t binary =
		naive_object(naive, "/google/src/cloud/shenhan/autofdo2-fig/google3/devtools/"
				    "crosstool/autofdo/testdata/propeller_sample.bin");

	assert_int_equal(taken(&c->branches, binary, 0x12d2, 0x1210), 22714);
	assert_int_equal(taken(&c->branches, binary, 0x1220, 0x1190), 23039);
	assert_int_equal(taken(&c->branches, binary, 0x1287, 0x12c4), 21603);
	assert_int_equal(taken(&c->branches, binary, 0x12c4, 0x12c9), 21980);
	assert_int_equal(sum_blocks(&c->blocks, binary, 0x1242, 0x1242).runs, 6553);
	assert_int_equal(sum_blocks(&c->blocks, binary, 0x128d, 0x128d).runs, 173);
}

static void check_vaddr_offset(const struct naive_counts *c, struct naive *naive)
{
	uint64_t rows = 0, last = 0;
	size_t n_sources = 0;

	for (size_t i = 0; i < c->branches.n; i++) {
		const struct tally_entry *e = &c->branches.entries[i];

		if (e->key[1] <= NAIVE_KERNEL) /* nothing but the binary is in its user rows */
			continue;
		rows += e->count[0];
		n_sources += e->key[2] != last;
		last = e->key[2];
	}
	assert_int_equal(tally_sum(&c->branches, 0), 119424);
	assert_int_equal(rows, 119419);
	assert_int_equal(n_sources, 9);
}

/*
 * The other number published of westmere-gzip: with the newest row dropped where it is the same as
 * the one before and goes further than 0x50 bytes. On that machine it is a loop that makes equal
 * rows, the newest no more often than any other, so the engine keeps them; this shows that the
 * samples are read as others do.
 */
static void test_westmere_without_a_duplicate_newest_row(void **state)
{
	_cleanup_free_ char *path = path_of("westmere-gzip", "perf.data");
	_cleanup_(recording_freep) struct recording *r = NULL;
	uint64_t n_runs = 0, n_bytes = 0;
	struct fault fault;
	struct event e;

	assert_int_equal(recording_open(&r, path, false, &fault), 0);
	while (recording_next(r, &e, &fault) > 0) {
		const struct branch_record *rows = e.sample.rows;
		uint32_t first = 0;

		if (e.kind != EVENT_SAMPLE || e.sample.n_rows < 2)
			continue;
		first = rows[0].from == rows[1].from && rows[0].to == rows[1].to &&
			llabs((int64_t)(rows[0].from - rows[0].to)) > 0x50;
		for (uint32_t i = first; i + 1 < e.sample.n_rows; i++) {
			uint64_t begin = rows[i + 1].to, end = rows[i].from;

			if (begin < 0x400000 || begin > end || end >= 0x40a000)
				continue;
			n_runs++;
			n_bytes += end - begin + 1;
		}
	}
	assert_int_equal(n_runs, 134622);
	assert_int_equal(n_bytes, 5383657);
}

/* A file of another shape; the numbers are perf's where it reads it: perf report -D | grep -c. */
struct shape {
	const char *file;
	uint64_t n_samples;   /* PERF_RECORD_SAMPLE */
	uint64_t n_throttled; /* PERF_RECORD_THROTTLE */
	uint64_t n_lost;      /* what the LOST_SAMPLES records add up to */
	const char *fault;    /* or what is said where it cannot be read */
	uint64_t n_forced;    /* samples with force */
};

static void test_reads_another_shape(void **state)
{
	const struct shape *shape = *state;
	_cleanup_free_ char *path = path_of("formats", shape->file);
	struct profile_counters *n;
	struct counted c;

	counted_init(&c);
	count_naively(&c, path, 0);
	count_by_engine(&c, path);
	n = &c.got.counters;
	assert_true(naive_counts_equal(&c.got, &c.expected));
	assert_true(naive_counters_balance(n, c.n_samples));
	assert_int_equal(c.n_samples, shape->n_samples);
	assert_int_equal(n->throttled, shape->n_throttled);
	assert_int_equal(n->lost_samples, shape->n_lost);
	counted_done(&c);
}

static void test_refuses_in_one_line(void **state)
{
	const struct shape *shape = *state;
	_cleanup_free_ char *path = path_of("formats", shape->file), *others = NULL, *line = NULL;
	_cleanup_(profile_freep) struct profile *profile = NULL;
	struct load_settings settings = { 0 };
	struct recording_damage damage;
	struct fault fault;

	assert_true(asprintf(&line, "%s: %s", path, shape->fault) > 0);
	assert_true(load_profile(&profile, path, &settings, &damage, &others, &fault) < 0);
	assert_null(profile);
	assert_string_equal(fault.text, line);

	settings.force = true;
	assert_int_equal(load_profile(&profile, path, &settings, &damage, &others, &fault), 0);
	assert_true(damage.n_bytes_lost > 0);
	assert_int_equal(profile->counters.samples, shape->n_forced);
}

static const struct known_recording recordings[] = {
	{ "skylake-three-processes", 32, 4639, 148448, 1048, check_three_processes },
	{ "westmere-gzip", 0, 9232, 147712, 0, check_westmere },
	{ "skylake-vaddr-offset", 32, 3740, 119424, 966, check_vaddr_offset },
	{ "sandybridge-system-wide", 0, 923, 14768, 0, NULL },
	{ "skylake-cycles-small", 32, 13, 416, 0, NULL },
	{ "raw-callchain-branch", 0, 513, 8208, 0, NULL },
};

static const struct shape shapes[] = {
	{ .file = "forkexit-3.8.perf.data", .n_samples = 10335 },
	{ .file = "throttle-3.8.perf.data", .n_samples = 14980, .n_throttled = 68 },
	{ .file = "lost_samples-4.4.perf.data", .n_samples = 191, .n_lost = 2 },
	{ .file = "piped.lost_samples-4.4.perf.data", .n_samples = 191, .n_lost = 2 },
	{ .file = "piped.hw_and_sw-3.4.perf.data", .n_samples = 4275, .n_throttled = 22 },
	{ .file = "fibo.compressed2.pipe.perf.data", .n_samples = 547 },
	{ .file = "sleep.perf.data", .n_samples = 7 },
	{ .file = "sleep.compressed.perf.data", .n_samples = 8 },
	{ .file = "sleep.compressed2.perf.data", .n_samples = 7 },
};

static const struct shape corrupt = {
	.file = "piped.corrupted.zero_size_sample-3.2.perf.data",
	.fault = "offset 49104: a record of 0 bytes (--force reads what comes before the damage)",
};

static void add_hardware(struct CMUnitTest *tests, size_t *n)
{
	tests[(*n)++] =
		(struct CMUnitTest)cmocka_unit_test(test_westmere_without_a_duplicate_newest_row);
	tests[(*n)++] = (struct CMUnitTest){ corrupt.file, test_refuses_in_one_line, NULL, NULL,
					     (void *)&corrupt };
	for (size_t i = 0; i < ARRAY_SIZE(recordings); i++)
		tests[(*n)++] =
			(struct CMUnitTest){ recordings[i].name, test_counts_what_others_read, NULL,
					     NULL, (void *)&recordings[i] };
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		tests[(*n)++] = (struct CMUnitTest){ shapes[i].file, test_reads_another_shape, NULL,
						     NULL, (void *)&shapes[i] };
}

/* The paths that match @pattern in the folder, one test each. */
static void add_simulated(struct CMUnitTest *tests, size_t *n, glob_t *found, const char *pattern,
			  CMUnitTestFunction test)
{
	_cleanup_free_ char *path = path_of(pattern, "");

	path[strlen(path) - 1] = '\0';
	if (glob(path, 0, NULL, found) != 0)
		return;
	for (size_t i = 0; i < found->gl_pathc && *n < MAX_TESTS; i++)
		tests[(*n)++] = (struct CMUnitTest){ found->gl_pathv[i], test, NULL, NULL,
						     found->gl_pathv[i] };
}

int main(void)
{
	struct CMUnitTest tests[MAX_TESTS] = {};
	glob_t programs = {}, formats = {};
	size_t n = 0;
	int r;

	if (!folder()) {
		fprintf(stderr, "BRANCHD_RECORDINGS is not set\n");
		return EXIT_FAILURE;
	}
	add_simulated(tests, &n, &programs, "simulated-*", test_counts_what_was_simulated);
	if (n > 0)
		add_simulated(tests, &n, &formats, "formats/[!c]*.perf.data", test_counts_a_format);
	else
		add_hardware(tests, &n);
	r = _cmocka_run_group_tests("recordings", tests, n, NULL, NULL);
	globfree(&programs);
	globfree(&formats);
	return r;
}
