/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The decoder on any attrs and any records: the input is a number of sources, that many pairs of
 * attr and id, then records one behind the other. Each is decoded where it ends with its memory, so
 * that a step beyond it is found, and all that an event points to is read.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/record/decoder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_SOURCES 4

static volatile uint64_t sink;

static void read_words(const uint64_t *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sink += words[i];
}

static void read_event(const struct event *e)
{
	switch (e->kind) {
	case EVENT_SAMPLE:
		read_words(e->sample.callchain, e->sample.n_callchain);
		read_words((const uint64_t *)e->sample.rows, 3 * (size_t)e->sample.n_rows);
		break;
	case EVENT_MAPPING:
		sink += strlen(e->mapping.path);
		if (e->mapping.n_build_id > sizeof(e->mapping.build_id))
			abort();
		break;
	case EVENT_COMM:
		sink += strlen(e->comm.comm);
		break;
	case EVENT_KSYMBOL:
		sink += strlen(e->ksymbol.name);
		break;
	default:
		break;
	}
}

/* The bytes taken, or 0 if no source can be made of them. */
static size_t add_source(struct decoder *d, const uint8_t *data, size_t size)
{
	struct perf_event_attr attr;
	struct fault fault = { 0 };
	uint64_t id;
	int r;

	if (size < sizeof(attr) + sizeof(id))
		return 0;
	memcpy(&attr, data, sizeof(attr));
	memcpy(&id, data + sizeof(attr), sizeof(id));
	r = decoder_add_source(d, &attr, &id, 1, &fault);
	if (r < 0 && !fault.text[0])
		abort();
	return sizeof(attr) + sizeof(id);
}

static void decode(const struct decoder *d, const uint8_t *data, size_t size)
{
	struct perf_event_header *record = malloc(size);
	struct fault fault = { 0 };
	uint64_t time = 0;
	struct event e;
	int r;

	if (!record)
		return;
	memcpy(record, data, size);
	record->size = (uint16_t)size;
	r = decoder_decode(d, record, &e, &fault);
	if (r == 0)
		read_event(&e);
	else if (!fault.text[0])
		abort();
	if (decoder_time(d, record, &time) > 0 && r == 0 && e.kind != EVENT_OTHER &&
	    e.kind != EVENT_UNKNOWN && e.time_ns != time)
		abort();
	free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(decoder_freep) struct decoder *d = NULL;
	size_t at = 1, n;

	if (size < 1 || decoder_new(&d) < 0)
		return 0;
	for (uint8_t i = 0; i < data[0] % (MAX_SOURCES + 1); i++) {
		n = add_source(d, data + at, size - at);
		if (n == 0)
			return 0;
		at += n;
	}
	while (size - at >= sizeof(struct perf_event_header)) {
		struct perf_event_header h;

		memcpy(&h, data + at, sizeof(h));
		n = MAX(h.size, sizeof(h));
		n = MIN(n, size - at);
		decode(d, data + at, n);
		at += n;
	}
	return 0;
}
