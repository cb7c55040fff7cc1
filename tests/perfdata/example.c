/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/perfdata/example.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "common/record/perf-file.h"
#include "common/util/macro.h"
#include "tests/perfdata/perfdata.h"

#define SAMPLED                                                                         \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

void example_done(struct example *example)
{
	free(example->data);
	*example = (struct example){ 0 };
}

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

static void read_all(struct example *ret, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		abort();
	ret->n = (size_t)st.st_size;
	ret->data = must(malloc(ret->n));
	if (pread(fd, ret->data, ret->n, 0) != (ssize_t)ret->n)
		abort();
}

static void add_tasks(struct perfdata *p, struct perfdata_id *id)
{
	static const uint8_t build_id[20] = { 1, 2, 3 };
	struct perfdata_mmap m = {
		.pid = UINT32_MAX,
		.start = 0xffffffff81000000,
		.length = 0x1000000,
		.pgoff = 0xffffffff81000000,
		.misc = PERF_RECORD_MISC_KERNEL,
		.filename = "[kernel.kallsyms]_text",
	};

	perfdata_add_mmap(p, id, &m);
	perfdata_add_comm(p, id, 42, 42, "example", true);
	m = (struct perfdata_mmap){
		.pid = 42,
		.tid = 42,
		.start = 0x400000,
		.length = 0x2000,
		.pgoff = 0x1000,
		.prot = 5,
		.build_id = build_id,
		.build_id_size = sizeof(build_id),
		.misc = PERF_RECORD_MISC_USER,
		.filename = "/usr/bin/example",
	};
	id->time++;
	perfdata_add_mmap2(p, id, &m);
	m.build_id = NULL;
	m.maj = 8;
	m.ino = 77;
	m.start = 0x7f0000000000;
	m.filename = "/usr/lib/libexample.so";
	perfdata_add_mmap2(p, id, &m);
	id->time++;
	perfdata_add_fork(p, id, 43, 42, 43, 42);
}

static void add_samples(struct perfdata *p, struct perfdata_id *id)
{
	static const struct perf_branch_entry rows[] = {
		{ .from = 0x400100, .to = 0x400080, .mispred = 1, .cycles = 3 },
		{ .from = 0x4000f0, .to = 0x4000f8, .predicted = 1, .cycles = 12 },
		{ .from = 0x7f0000000010, .to = 0x4000e0, .predicted = 1 },
		{ .from = 0, .to = 0 },
	};
	static const uint64_t chain[] = { PERF_CONTEXT_USER, 0x400090, 0x400200 };
	struct perfdata_sample s = {
		.misc = PERF_RECORD_MISC_USER,
		.ip = 0x400090,
		.period = 1000,
		.rows = rows,
		.n_rows = ARRAY_SIZE(rows),
		.callchain = chain,
		.n_callchain = ARRAY_SIZE(chain),
	};

	for (unsigned int i = 0; i < 4; i++) {
		id->time -= i == 2 ? 4 : 0; /* another CPU's ring */
		id->cpu = i / 2;
		id->time += 3;
		id->id = 100 + i % 2;
		s.id = *id;
		s.n_event = i % 2;
		perfdata_add_sample(p, &s);
	}
}

static void add_losses(struct perfdata *p, struct perfdata_id *id)
{
	id->id = 0;
	id->time += 10;
	perfdata_add_lost(p, id, 100, 7);
	perfdata_add_lost_samples(p, id, 5);
	perfdata_add_throttle(p, id, true, 100);
	perfdata_add_exit(p, id, 43, 42, 43, 42);
}

static void set_features(struct perfdata *p)
{
	static const char *const caps[][2] = { { "branches", "32" }, { "max_precise", "3" } };
	static const uint8_t build_id[20] = { 9, 8, 7 };

	perfdata_set_string(p, PERFDATA_HOSTNAME, "host");
	perfdata_set_string(p, PERFDATA_ARCH, "aarch64");
	perfdata_set_string(p, PERFDATA_OSRELEASE, "6.1.0");
	perfdata_set_string(p, PERFDATA_CPUDESC, "A CPU");
	perfdata_set_string(p, PERFDATA_CPUID, "GenuineIntel,6,85,4");
	perfdata_set_nrcpus(p, 8, 4);
	perfdata_set_cpu_pmu_caps(p, caps, ARRAY_SIZE(caps));
	perfdata_add_build_id(p, PERF_RECORD_MISC_USER, -1, build_id, sizeof(build_id),
			      "/usr/lib/libexample.so");
}

void example_make(struct example *ret, unsigned int perfdata_flags)
{
	static const uint64_t ids[2] = { 100, 101 };
	struct perfdata_event events[2] = {
		{ { .sample_type = SAMPLED | PERF_SAMPLE_BRANCH_STACK,
		    .sample_period = 1000,
		    .branch_sample_type = PERF_SAMPLE_BRANCH_ANY,
		    .sample_id_all = 1 },
		  "cycles:u",
		  &ids[0],
		  1 },
		{ { .config = 1,
		    .sample_type = SAMPLED | PERF_SAMPLE_CALLCHAIN,
		    .sample_period = 1000,
		    .sample_id_all = 1 },
		  "instructions:u",
		  &ids[1],
		  1 },
	};
	struct perfdata_id id = { .pid = 42, .tid = 42, .time = 1000 };
	struct perfdata *p = NULL;
	char path[32];
	int fd = memfd_create("example", MFD_CLOEXEC);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || perfdata_new(&p, path, perfdata_flags, events, 2) < 0)
		abort();
	set_features(p);
	add_tasks(p, &id);
	perfdata_add_finished_round(p);
	add_samples(p, &id);
	perfdata_add_finished_round(p);
	add_losses(p, &id);
	if (perfdata_finish(p) < 0)
		abort();
	perfdata_free(p);
	read_all(ret, fd);
	close(fd);
}

static bool is_pipe(const struct example *e)
{
	return ((const struct perf_file_header *)e->data)->n_bytes == PERF_PIPE_HEADER_BYTES;
}

size_t example_data_start(const struct example *example)
{
	if (is_pipe(example))
		return PERF_PIPE_HEADER_BYTES;
	return ((const struct perf_file_header *)example->data)->data.offset;
}

size_t example_data_end(const struct example *example)
{
	if (is_pipe(example))
		return example->n;
	return example_data_start(example) +
	       ((const struct perf_file_header *)example->data)->data.n_bytes;
}

/* The first record that perf would pack: one of the kernel's. */
static size_t first_packed(const struct example *e)
{
	size_t at = example_data_start(e);

	for (;;) {
		const struct perf_event_header *h = (const void *)(e->data + at);

		if (h->type < RECORD_HEADER_ATTR || at + h->size >= example_data_end(e))
			return at;
		at += h->size;
	}
}

/* @old with the bytes from @start to @end replaced: its header and sections are made to fit again.
 */
static void replace(struct example *ret, const struct example *old, size_t start, size_t end,
		    const char *data, size_t n)
{
	size_t grown = n - (end - start); /* modulo 2^64 */
	struct perf_file_header *h;

	ret->n = old->n + grown;
	ret->data = must(malloc(ret->n));
	memcpy(ret->data, old->data, start);
	memcpy(ret->data + start, data, n);
	memcpy(ret->data + start + n, old->data + end, old->n - end);
	if (is_pipe(old))
		return;
	h = (void *)ret->data;
	h->data.n_bytes += grown;
	for (size_t i = 0, at = example_data_end(ret); i < N_FEATURES; i++) {
		struct perf_file_section s;

		if (!(h->features[i / 64] >> (i % 64) & 1))
			continue;
		memcpy(&s, ret->data + at, sizeof(s));
		s.offset += grown;
		memcpy(ret->data + at, &s, sizeof(s));
		at += sizeof(s);
	}
}

static size_t pack_record(char *to, uint32_t type, const char *p, size_t n)
{
	struct perf_event_header h = { .type = type };
	size_t head = sizeof(h), padding = 0;
	uint64_t size = n;

	if (type == RECORD_COMPRESSED2) {
		memcpy(to + head, &size, sizeof(size));
		head += sizeof(size);
		padding = -n & 7;
	}
	h.size = (uint16_t)(head + n + padding);
	memcpy(to, &h, sizeof(h));
	memcpy(to + head, p, n);
	memset(to + head + n, 0, padding);
	return h.size;
}

void example_pack(struct example *ret, const struct example *plain, uint32_t type, size_t n_piece)
{
	size_t start = first_packed(plain), end = example_data_end(plain);
	size_t n_bound = ZSTD_compressBound(end - start), n_records = 0;
	char *packed = must(malloc(n_bound)), *records = must(malloc(32 * n_bound));
	size_t n = ZSTD_compress(packed, n_bound, plain->data + start, end - start, 1);

	for (size_t i = 0; i < n; i += n_piece)
		n_records +=
			pack_record(records + n_records, type, packed + i, MIN(n_piece, n - i));
	replace(ret, plain, start, end, records, n_records);
	free(packed);
	free(records);
}

void example_shift(struct example *ret, const struct example *plain, size_t by)
{
	static const char zeros[64];
	size_t start = example_data_start(plain);
	struct perf_file_header *h;

	assert(by <= sizeof(zeros) && !is_pipe(plain));
	replace(ret, plain, start, start, zeros, by);
	h = (void *)ret->data;
	h->data.offset += by;
	h->data.n_bytes -= by;
}

void example_open(const struct example *example, size_t n, char ret_path[32], int *ret_fd)
{
	int fd = memfd_create("example", MFD_CLOEXEC);

	if (fd < 0 || write(fd, example->data, n) != (ssize_t)n)
		abort();
	snprintf(ret_path, 32, "/proc/self/fd/%d", fd);
	*ret_fd = fd;
}
