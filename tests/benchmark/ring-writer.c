/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/benchmark/ring-writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "tests/benchmark/branch-paths.h"

#define FIRST_PID  5000000 /* above those of processes that exist */
#define TEXT_BYTES ((uint64_t)BRANCH_PATHS_N * BRANCH_PATH_BYTES)
#define DEPTH      32   /* branch records, or callers */
#define PREPARED   8192 /* samples */
#define FEW        64   /* ... of stacks that are not rare */
#define AT_ONCE    16   /* records into a ring, before the next one's turn */
#define PAUSE_US   50   /* when all is full */
#define MAX_WORDS  (3 * DEPTH)

/* The records as the attributes of the daemon's events have them. */
struct sample_id {
	uint64_t time;
	uint32_t cpu, unused;
};

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[16];
	struct sample_id id;
};

struct map_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, length, page_offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	char path[32];
	struct sample_id id;
};

struct sample_record {
	struct perf_event_header header;
	struct sample_id id;
	struct bpf_sample sample;
	uint64_t words[MAX_WORDS];
};

/* A sample of code that begins at address 0. */
struct prepared {
	uint64_t ip, words[MAX_WORDS];
};

struct writer {
	const struct memory_cpus *machine;
	enum ring_writer_kind kind;
	struct population population;
	struct branch_paths paths;
	struct prepared prepared[PREPARED];
	/* of ticks: in which half of a CPU's table a process is introduced */
	bool introduced[MEMORY_CPUS_MAX][2][N_PROCESSES];
	uint64_t told[MEMORY_CPUS_MAX]; /* the reader's position when it was woken */
};

static uint64_t text_of(unsigned int process)
{
	return 0x550000000000ull + (uint64_t)process * 0x1000000;
}

static bool has_stacks(const struct writer *w)
{
	return w->kind == RING_WRITER_STACKS || w->kind == RING_WRITER_RARE;
}

/* Most calls of a function are at one of its sites. */
static void prepare_stack(struct writer *w, struct prepared *p)
{
	unsigned int function = 0;

	for (unsigned int i = DEPTH; i-- > 0;) {
		unsigned int dice = population_below(&w->population, 64);
		unsigned int site = dice < 60 ? 0 : dice % 4;

		p->words[i] = function * BRANCH_PATH_BYTES + 0x10 + site * 0x30;
		function = (function * 5 + site * 7 + 1) % BRANCH_PATHS_N;
	}
	p->words[0] += population_below(&w->population, 0x20);
	p->ip = p->words[0];
}

static void prepare(struct writer *w)
{
	branch_paths_make(&w->paths, &w->population);
	for (size_t i = 0; i < PREPARED; i++) {
		struct prepared *p = &w->prepared[i];

		if (has_stacks(w))
			prepare_stack(w, p);
		else
			p->ip = branch_paths_walk(&w->paths, &w->population, 0, (void *)p->words,
						  DEPTH);
	}
}

/* False: there is no room. */
static bool write_record(const struct writer *w, uint32_t cpu, const void *record, size_t n)
{
	struct perf_event_mmap_page *ring = w->machine->rings[cpu];
	uint64_t tail = __atomic_load_n(&ring->data_tail, __ATOMIC_ACQUIRE);
	uint64_t head = ring->data_head, at = head % w->machine->ring_bytes;
	char *data = (char *)ring + sysconf(_SC_PAGESIZE);
	size_t n_first = w->machine->ring_bytes - at;

	if (head - tail + n > w->machine->ring_bytes)
		return false;
	n_first = n_first < n ? n_first : n;
	memcpy(data + at, record, n_first);
	memcpy(data, (const char *)record + n_first, n - n_first);
	__atomic_store_n(&ring->data_head, head + n, __ATOMIC_RELEASE);
	return true;
}

static struct sample_id id_of(uint32_t cpu)
{
	return (struct sample_id){ .time = clock_ns(CLOCK_MONOTONIC), .cpu = cpu };
}

static void introduce_process(const struct writer *w, unsigned int process)
{
	uint32_t pid = FIRST_PID + process;
	struct comm_record comm = {
		.header = { PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, sizeof(comm) },
		.pid = pid,
		.tid = pid,
		.id = id_of(0),
	};
	struct map_record map = {
		.header = { PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, sizeof(map) },
		.pid = pid,
		.tid = pid,
		.start = text_of(process),
		.length = TEXT_BYTES,
		.major = 8,
		.inode = 1 + process % N_PROGRAMS,
		.protection = 5,
		.flags = 2,
		.id = id_of(0),
	};

	snprintf(comm.comm, sizeof(comm.comm), "program-%u", process % N_PROGRAMS);
	snprintf(map.path, sizeof(map.path), "/usr/bin/program-%u", process % N_PROGRAMS);
	write_record(w, 0, &comm, sizeof(comm));
	write_record(w, 0, &map, sizeof(map));
}

/* Some of them much more often than others. */
static const struct prepared *pick_prepared(struct writer *w)
{
	unsigned int all = w->kind == RING_WRITER_STACKS ? FEW : PREPARED;
	unsigned int n = population_below(&w->population, all) + 1;

	return &w->prepared[population_below(&w->population, n)];
}

static size_t put_words(const struct writer *w, const struct prepared *p, uint64_t text,
			uint64_t *words)
{
	if (has_stacks(w)) {
		words[0] = PERF_CONTEXT_USER;
		for (unsigned int i = 0; i < DEPTH; i++)
			words[1 + i] = text + p->words[i];
		return 1 + DEPTH;
	}
	for (unsigned int i = 0; i < 3 * DEPTH; i += 3) {
		words[i] = text + p->words[i];
		words[i + 1] = text + p->words[i + 1];
		words[i + 2] = p->words[i + 2];
	}
	return MAX_WORDS;
}

static bool write_sample(struct writer *w, uint32_t cpu, unsigned int process, uint16_t flags)
{
	const struct prepared *p = pick_prepared(w);
	uint64_t text = text_of(process);
	struct sample_record r;
	size_t n_words = 0;

	if (!(flags & BPF_SAMPLE_INTRODUCES))
		n_words = put_words(w, p, text, r.words);
	r.sample = (struct bpf_sample){
		.n_bytes = (uint32_t)(sizeof(r.sample) - sizeof(r.sample.n_bytes) +
				      n_words * sizeof(*r.words)),
		.pid = FIRST_PID + process,
		.tid = FIRST_PID + process,
		.ip = text + p->ip,
		.period = PERIOD,
		.space = w->kind == RING_WRITER_TICKS,
		.flags = flags,
	};
	if (flags & BPF_SAMPLE_HAS_ROWS)
		r.sample.n_rows = DEPTH;
	else
		r.sample.n_callchain = (uint16_t)n_words;
	r.id = id_of(cpu);
	r.header = (struct perf_event_header){
		.type = PERF_RECORD_SAMPLE,
		.misc = PERF_RECORD_MISC_USER,
		.size = (uint16_t)(offsetof(struct sample_record, words) +
				   n_words * sizeof(*r.words)),
	};
	return write_record(w, cpu, &r, r.header.size);
}

/* An entry of its own for each tick. */
static bool write_tick(struct writer *w, uint32_t cpu)
{
	struct bpf_ticks *t = &w->machine->ticks[cpu];
	uint64_t turn = __atomic_load_n(&t->turn, __ATOMIC_RELAXED);
	uint64_t half = (clock_ns(CLOCK_MONOTONIC) >= turn ? turn : ~turn) & 1;
	uint64_t n = __atomic_load_n(&t->n_used[half], __ATOMIC_ACQUIRE);
	unsigned int process = population_below(&w->population, N_PROCESSES);
	uint64_t ip = pick_prepared(w)->ip;
	bool *introduced = w->introduced[cpu][half];
	struct bpf_tick *tick = &t->ticks[half * BPF_MAX_TICKS + n];

	if (n >= BPF_MAX_TICKS)
		return false;
	if (n == 0)
		memset(introduced, 0, N_PROCESSES);
	if (!introduced[process] && !write_sample(w, cpu, process, BPF_SAMPLE_INTRODUCES))
		return false;
	*tick = (struct bpf_tick){
		.ip = introduced[process] ? text_of(process) + ip : 0,
		.pid = FIRST_PID + process,
		.space = 1,
		.n = 1,
		.weight = PERIOD,
	};
	w->machine->counters[cpu].ticked += introduced[process];
	w->machine->counters[cpu].taken += introduced[process];
	introduced[process] = true;
	__atomic_store_n(&t->n_used[half], n + 1, __ATOMIC_RELEASE);
	return true;
}

static bool write_one(struct writer *w, uint32_t cpu)
{
	struct bpf_counters *counters = &w->machine->counters[cpu];
	uint16_t flags = w->kind == RING_WRITER_SNAPSHOTS ? BPF_SAMPLE_HAS_ROWS : 0;

	if (w->kind == RING_WRITER_TICKS)
		return write_tick(w, cpu);
	if (!write_sample(w, cpu, population_below(&w->population, N_PROCESSES), flags))
		return false;
	counters->taken++;
	counters->written++;
	return true;
}

/* Wakes the reader once, when a quarter is full, or half a table: then a ring would fill up. */
static bool must_wake(struct writer *w, uint32_t cpu)
{
	struct perf_event_mmap_page *ring = w->machine->rings[cpu];
	const struct bpf_ticks *ticks = &w->machine->ticks[cpu];
	uint64_t tail = __atomic_load_n(&ring->data_tail, __ATOMIC_RELAXED);

	if (w->kind == RING_WRITER_TICKS)
		return ticks->n_used[0] > BPF_MAX_TICKS / 2 || ticks->n_used[1] > BPF_MAX_TICKS / 2;
	if (ring->data_head - tail < w->machine->ring_bytes / 4 || w->told[cpu] == tail + 1)
		return false;
	w->told[cpu] = tail + 1;
	return true;
}

bool ring_writer_run(const struct memory_cpus *machine, enum ring_writer_kind kind)
{
	struct writer *w = calloc(1, sizeof(*w));
	const uint64_t one = 1;

	if (!w)
		return false;
	w->machine = machine;
	w->kind = kind;
	w->population.random = 1;
	prepare(w);
	for (unsigned int process = 0; process < N_PROCESSES; process++)
		introduce_process(w, process);
	for (;;) {
		unsigned int n_written = 0;
		bool wake = false;

		for (uint32_t cpu = 0; cpu < machine->n_cpus && atomic_load(machine->is_sampling);
		     cpu++) {
			for (int i = 0; i < AT_ONCE && write_one(w, cpu); i++)
				n_written++;
			wake |= must_wake(w, cpu);
		}
		if (wake)
			(void)!write(machine->full_fd, &one, sizeof(one));
		if (n_written == 0)
			usleep(PAUSE_US);
	}
}
