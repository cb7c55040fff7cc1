/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * make-seeds DIRECTORY: what fuzz-recording, fuzz-decoder, fuzz-protocol and fuzz-opener start
 * from, each in a folder of its name.
 */
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/record/perf-file.h"
#include "common/util/cleanup.h"
#include "daemon/opener/messages.h"
#include "tests/perfdata/example.h"
#include "tests/perfdata/perfdata.h"

static FILE *create(const char *directory, const char *folder, const char *name)
{
	_cleanup_free_ char *path = NULL, *parent = NULL;
	FILE *f;

	if (asprintf(&parent, "%s/%s", directory, folder) < 0 ||
	    asprintf(&path, "%s/%s", parent, name) < 0)
		errx(1, "no memory");
	if (mkdir(parent, 0777) < 0 && errno != EEXIST)
		err(1, "%s", parent);
	f = fopen(path, "we");
	if (!f)
		err(1, "%s", path);
	return f;
}

static void put(FILE *f, const void *p, size_t n)
{
	if (fwrite(p, 1, n, f) != n)
		err(1, "write");
}

static void finish(FILE *f)
{
	if (fclose(f) != 0)
		err(1, "write");
}

static void write_example(const char *directory, const char *name, struct example *e)
{
	FILE *f = create(directory, "fuzz-recording", name);

	put(f, e->data, e->n);
	finish(f);
	example_done(e);
}

static void write_recordings(const char *directory, unsigned int flags, const char *prefix)
{
	struct example plain, e;
	char name[64];

	example_make(&plain, flags);
	snprintf(name, sizeof(name), "%s-compressed", prefix);
	example_pack(&e, &plain, RECORD_COMPRESSED, 100);
	write_example(directory, name, &e);
	snprintf(name, sizeof(name), "%s-compressed2", prefix);
	example_pack(&e, &plain, RECORD_COMPRESSED2, 1000);
	write_example(directory, name, &e);
	if (!(flags & PERFDATA_PIPE)) {
		snprintf(name, sizeof(name), "%s-askew", prefix);
		example_shift(&e, &plain, 4);
		write_example(directory, name, &e);
	}
	write_example(directory, prefix, &plain);
}

/* The attrs and records of an example, as fuzz-decoder takes them. */
static void write_records(const char *directory)
{
	const struct perf_file_header *h;
	FILE *f = create(directory, "fuzz-decoder", "example");
	struct example e;
	size_t n;

	example_make(&e, 0);
	h = (const void *)e.data;
	n = h->attrs.n_bytes / h->attr_bytes;
	fputc((int)n, f);
	for (size_t i = 0; i < n; i++) {
		const char *entry = e.data + h->attrs.offset + i * h->attr_bytes;
		struct perf_file_section ids;

		memcpy(&ids, entry + h->attr_bytes - sizeof(ids), sizeof(ids));
		put(f, entry, sizeof(struct perf_event_attr));
		put(f, e.data + ids.offset, sizeof(uint64_t));
	}
	put(f, e.data + example_data_start(&e), example_data_end(&e) - example_data_start(&e));
	finish(f);
	example_done(&e);
}

/* One sample for each bit of sample_type, alone and all together. */
static void write_fields(const char *directory)
{
	for (unsigned int bit = 0; bit <= 25; bit++) {
		struct perf_event_attr attr = {
			.size = sizeof(attr),
			.sample_type = bit < 25 ? 1ull << bit : (1ull << 25) - 1,
			.read_format = 0x1f,
			.branch_sample_type = 0xa0000, /* with index and counters */
			.sample_regs_user = 7,
			.sample_regs_intr = 3,
			.sample_id_all = bit % 2,
		};
		struct perf_event_header h = { .type = PERF_RECORD_SAMPLE, .size = 512 };
		uint64_t words[63], id = bit;
		char name[32];
		FILE *f;

		for (size_t i = 0; i < 63; i++)
			words[i] = i % 4;
		snprintf(name, sizeof(name), "field-%u", bit);
		f = create(directory, "fuzz-decoder", name);
		fputc(1, f);
		put(f, &attr, sizeof(attr));
		put(f, &id, sizeof(id));
		put(f, &h, sizeof(h));
		put(f, words, sizeof(words));
		finish(f);
	}
}

/* One of each kind for fuzz-protocol, and all of them in small pieces. */
static void write_calls(const char *directory)
{
	static const char *const calls[] = {
		"{\"method\":\"a.b.Echo\",\"parameters\":{\"a\":[1,null,{\"b\":-0.5e3}]}}",
		"{\"method\":\"a.b.Count\",\"parameters\":{\"n\":5,\"text\":\"x\"},\"more\":true}",
		"{\"method\":\"a.b.Keep\",\"more\":true}",
		"{\"method\":\"a.b.Fail\",\"oneway\":true}",
		"{\"method\":\"org.varlink.service.GetInfo\"}",
		"{\"method\":\"org.varlink.service.GetInterfaceDescription\","
		"\"parameters\":{\"interface\":\"a.b\"}}",
		"{\"method\":\"a.b.Echo\",\"upgrade\":true}",
	};
	FILE *all = create(directory, "fuzz-protocol", "all");
	char name[16];

	put(all, "\3", 1);
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		FILE *f;

		snprintf(name, sizeof(name), "%zu", i);
		f = create(directory, "fuzz-protocol", name);
		put(f, "", 1);
		put(f, calls[i], strlen(calls[i]) + 1);
		finish(f);
		put(all, calls[i], strlen(calls[i]) + 1);
	}
	finish(all);
}

/* As fuzz-opener.c reads it: type, flags, and the number of bytes before them. */
static void write_opener_request(FILE *f, uint8_t type, uint8_t flags, const char *path)
{
	const struct opener_request request = {};
	size_t n = sizeof(request) + strlen(path) + 1;
	const uint8_t head[] = { type, flags, (uint8_t)(n >> 8), (uint8_t)n };

	put(f, head, sizeof(head));
	put(f, &request, sizeof(request));
	put(f, path, strlen(path) + 1);
}

/* Each kind of request, and of file. */
static void write_opener_requests(const char *directory)
{
	static const char *const paths[] = { "file", "link", "fifo", "folder/../file",
					     "gone (deleted)" };
	FILE *all = create(directory, "fuzz-opener", "all");

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		write_opener_request(all, OPENER_OPEN, (uint8_t)i, paths[i]);
	write_opener_request(all, OPENER_MAPS, 0, "");
	finish(all);
}

int main(int argc, char *argv[])
{
	if (argc != 2)
		errx(2, "usage: make-seeds DIRECTORY");
	if (mkdir(argv[1], 0777) < 0 && errno != EEXIST)
		err(1, "%s", argv[1]);
	write_recordings(argv[1], 0, "normal");
	write_recordings(argv[1], PERFDATA_PIPE, "pipe");
	write_records(argv[1]);
	write_fields(argv[1]);
	write_calls(argv[1]);
	write_opener_requests(argv[1]);
	return 0;
}
