/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records to events: whose each is and when, by the layouts of the events; decode-sample.c and
 * decode-body.c read the rest.
 */
#include "common/record/decoder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/record/decode-body.h"
#include "common/record/decode-sample.h"
#include "common/util/array.h"

#define NONE (-1) /* of an offset: the field is not there */

struct id_entry {
	uint64_t id;
	uint32_t source;
	UT_hash_handle hh;
};

/* What of an attr the decoding of its records needs, worked out once. */
struct source {
	struct perf_event_attr attr;
	int time_at;          /* byte offset of the time in a sample, or -1 */
	int id_at;            /* likewise of the id */
	int trailer_time_end; /* bytes from the time to the end of any other record, or -1 */
	int trailer_id_end;
	unsigned int trailer_bytes;
};

struct decoder {
	struct source *sources;
	size_t n_sources, cap_sources;
	struct id_entry *ids;
	bool same_layout; /* all sources lay out their samples alike */
};

int decoder_new(struct decoder **ret)
{
	struct decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->same_layout = true;
	*ret = d;
	return 0;
}

struct decoder *decoder_free(struct decoder *decoder)
{
	struct id_entry *e, *next;

	if (!decoder)
		return NULL;
	HASH_ITER(hh, decoder->ids, e, next) {
		HASH_DEL(decoder->ids, e);
		free(e);
	}
	free(decoder->sources);
	free(decoder);
	return NULL;
}

/* Where the fixed fields at the head of a sample lie: IDENTIFIER IP TID TIME ADDR ID. */
static void source_lay_out_sample(struct source *s)
{
	uint64_t t = s->attr.sample_type;
	int at = sizeof(struct perf_event_header);

	s->id_at = s->time_at = NONE;
	if (t & PERF_SAMPLE_IDENTIFIER) {
		s->id_at = at;
		at += 8;
	}
	if (t & PERF_SAMPLE_IP)
		at += 8;
	if (t & PERF_SAMPLE_TID)
		at += 8;
	if (t & PERF_SAMPLE_TIME) {
		s->time_at = at;
		at += 8;
	}
	if (t & PERF_SAMPLE_ADDR)
		at += 8;
	if (t & PERF_SAMPLE_ID && s->id_at == NONE)
		s->id_at = at;
}

/* What sample_id_all adds to every other record: TID TIME ID STREAM_ID CPU IDENTIFIER. */
static void source_lay_out_trailer(struct source *s)
{
	uint64_t t = s->attr.sample_type;
	int end = 0;

	s->trailer_id_end = s->trailer_time_end = NONE;
	s->trailer_bytes = 0;
	if (!s->attr.sample_id_all)
		return;
	if (t & PERF_SAMPLE_IDENTIFIER)
		s->trailer_id_end = end += 8;
	if (t & PERF_SAMPLE_CPU)
		end += 8;
	if (t & PERF_SAMPLE_STREAM_ID)
		end += 8;
	if (t & PERF_SAMPLE_ID) {
		end += 8;
		if (s->trailer_id_end == NONE)
			s->trailer_id_end = end;
	}
	if (t & PERF_SAMPLE_TIME)
		s->trailer_time_end = end += 8;
	if (t & PERF_SAMPLE_TID)
		end += 8;
	s->trailer_bytes = (unsigned int)end;
}

static bool sources_alike(const struct source *a, const struct source *b)
{
	return a->attr.sample_type == b->attr.sample_type &&
	       a->attr.read_format == b->attr.read_format &&
	       (a->attr.branch_sample_type & (BRANCH_HW_INDEX | BRANCH_COUNTERS)) ==
		       (b->attr.branch_sample_type & (BRANCH_HW_INDEX | BRANCH_COUNTERS)) &&
	       a->attr.sample_regs_user == b->attr.sample_regs_user &&
	       a->attr.sample_regs_intr == b->attr.sample_regs_intr &&
	       a->attr.sample_id_all == b->attr.sample_id_all;
}

int decoder_add_source(struct decoder *decoder, const struct perf_event_attr *attr,
		       const uint64_t *ids, size_t n_ids, struct fault *fault)
{
	struct source *s, *first;
	int r;

	if (decoder->n_sources >= UINT32_MAX)
		return fault_set(fault, -EINVAL, "too many events");
	r = ARRAY_RESERVE(&decoder->sources, &decoder->cap_sources, decoder->n_sources + 1);
	if (r < 0)
		return r;
	s = &decoder->sources[decoder->n_sources];
	s->attr = *attr;
	source_lay_out_sample(s);
	source_lay_out_trailer(s);

	first = decoder->sources;
	if (decoder->n_sources > 0 && !sources_alike(first, s)) {
		decoder->same_layout = false;
		if (s->id_at != first->id_at || s->trailer_id_end != first->trailer_id_end ||
		    s->id_at == NONE)
			return fault_set(fault, -EINVAL,
					 "events 0 and %zu differ in what they record, and no id "
					 "tells their records apart",
					 decoder->n_sources);
	}
	decoder->n_sources++;
	return decoder_add_ids(decoder, (uint32_t)decoder->n_sources - 1, ids, n_ids);
}

int decoder_add_ids(struct decoder *decoder, uint32_t source, const uint64_t *ids, size_t n_ids)
{
	for (size_t i = 0; i < n_ids; i++) {
		struct id_entry *e;
		uint64_t id;

		memcpy(&id, ids + i, sizeof(id));
		HASH_FIND(hh, decoder->ids, &id, sizeof(id), e);
		if (e)
			continue;
		e = malloc(sizeof(*e));
		if (!e)
			return -ENOMEM;
		e->id = id;
		e->source = source;
		HASH_ADD(hh, decoder->ids, id, sizeof(e->id), e);
		if (!e->hh.tbl) {
			free(e);
			return -ENOMEM;
		}
	}
	return 0;
}

int64_t decoder_find_source(const struct decoder *decoder, uint64_t id)
{
	struct id_entry *e;

	HASH_FIND(hh, decoder->ids, &id, sizeof(id), e);
	return e ? (int64_t)e->source : -1;
}

size_t decoder_n_sources(const struct decoder *decoder)
{
	return decoder->n_sources;
}

const struct perf_event_attr *decoder_attr(const struct decoder *decoder, uint32_t source)
{
	return &decoder->sources[source].attr;
}

/*
 * Where the trailer of a record that is no sample ends. That is the end of the record, but for two
 * kinds which the kernel makes longer for each further event that listens, without writing anything
 * there (up to 6.18 at the least: perf_event_ksymbol_output(), perf_event_bpf_output()).
 */
static size_t trailer_end(const struct source *s, const struct perf_event_header *record)
{
	const size_t fixed = 24; /* bytes of both before what varies in length */
	size_t n = fixed;

	if (record->size < fixed)
		return record->size;
	if (record->type == PERF_RECORD_KSYMBOL) /* a name, padded */
		n += (strnlen((const char *)record + fixed, record->size - fixed) + 8) & ~7ull;
	else if (record->type != PERF_RECORD_BPF_EVENT)
		return record->size;
	return MIN(n + s->trailer_bytes, (size_t)record->size);
}

/* The word of the record that begins @at bytes from its start. */
static bool record_word(const struct perf_event_header *record, size_t at, uint64_t *ret)
{
	if (at < sizeof(*record) || record->size < 8 || at > record->size - 8u)
		return false;
	memcpy(ret, (const char *)record + at, 8);
	return true;
}

/* The field that begins @from_end bytes before the end of a record that is no sample: its trailer.
 */
static bool trailer_word(const struct source *s, const struct perf_event_header *record,
			 int from_end, uint64_t *ret)
{
	return record_word(record, trailer_end(s, record) - (size_t)from_end, ret);
}

/*
 * The source that @record belongs to, NULL if nothing says. What perf itself made up (the state of
 * the machine at the start) carries id 0 and follows the layout of the first.
 */
static const struct source *find_source(const struct decoder *decoder,
					const struct perf_event_header *record)
{
	const struct source *first = decoder->sources;
	bool is_sample = record->type == PERF_RECORD_SAMPLE;
	int64_t source;
	uint64_t id;

	if (decoder->n_sources <= 1 || !decoder->ids ||
	    (is_sample ? first->id_at : first->trailer_id_end) == NONE)
		return first;
	if (is_sample ? !record_word(record, (size_t)first->id_at, &id) :
			!trailer_word(first, record, first->trailer_id_end, &id))
		return NULL;
	source = decoder_find_source(decoder, id);
	if (source >= 0)
		return &decoder->sources[source];
	if (is_sample && id != 0 && !decoder->same_layout)
		return NULL;
	return first;
}

/* Records of the kernel's; perf's own, from 64 on, have neither id nor time. */
static bool is_kernels(const struct perf_event_header *record)
{
	return record->type < 64;
}

int decoder_time(const struct decoder *decoder, const struct perf_event_header *record,
		 uint64_t *ret)
{
	const struct source *s;
	uint64_t time;

	if (!is_kernels(record) || decoder->n_sources == 0)
		return 0;
	s = find_source(decoder, record);
	if (!s)
		return 0;
	if (record->type == PERF_RECORD_SAMPLE) {
		if (s->time_at < 0 || !record_word(record, (size_t)s->time_at, &time))
			return 0;
	} else {
		if (s->trailer_time_end < 0 || !trailer_word(s, record, s->trailer_time_end, &time))
			return 0;
	}
	if (time == 0 || time == UINT64_MAX)
		return 0;
	*ret = time;
	return 1;
}

/* The trailer that sample_id_all adds says whose and when, where the body does not. */
static void decode_trailer(const struct perf_event_header *record, const struct source *source,
			   struct event *ret)
{
	const char *end = (const char *)record + trailer_end(source, record);
	struct cursor c = { end - source->trailer_bytes, end };
	uint64_t t = source->attr.sample_type;
	struct event trailer = { .pid = -1, .tid = -1, .cpu = UINT32_MAX };

	if (!decode_ids(&c, t, &trailer))
		return;
	if (ret->kind == EVENT_LOST || ret->kind == EVENT_THROTTLE ||
	    ret->kind == EVENT_UNTHROTTLE) {
		ret->pid = trailer.pid;
		ret->tid = trailer.tid;
	}
	if (trailer.time_ns != 0)
		ret->time_ns = trailer.time_ns;
	cursor_skip(&c, 8 * (uint64_t)(!!(t & PERF_SAMPLE_ID) + !!(t & PERF_SAMPLE_STREAM_ID)));
	if (t & PERF_SAMPLE_CPU)
		cursor_take(&c, &ret->cpu, 4);
}

/* Whether @record is a sample whose id says that it belongs to no event that was described. */
static bool is_of_unknown_event(const struct decoder *decoder,
				const struct perf_event_header *record)
{
	int id_at = decoder->sources->id_at;
	uint64_t id;

	return record->type == PERF_RECORD_SAMPLE && decoder->n_sources > 1 && decoder->ids &&
	       id_at != NONE && record_word(record, (size_t)id_at, &id) && id != 0 &&
	       decoder_find_source(decoder, id) < 0;
}

int decoder_decode(const struct decoder *decoder, const struct perf_event_header *record,
		   struct event *ret, struct fault *fault)
{
	struct cursor c = { (const char *)(record + 1), (const char *)record + record->size };
	const struct source *source;

	ret->kind = EVENT_OTHER;
	ret->source = 0;
	ret->cpu = UINT32_MAX;
	ret->pid = ret->tid = -1;
	ret->time_ns = 0;
	if (record->size < sizeof(*record))
		return fault_set(fault, -EBADMSG, "record of %u bytes", record->size);
	if (!is_kernels(record))
		return 0;
	if (decoder->n_sources == 0)
		return fault_set(fault, -EBADMSG,
				 "record of type %u before any event was described", record->type);
	source = find_source(decoder, record);
	if (!source)
		return fault_set(fault, -EBADMSG,
				 "record of type %u that belongs to no event described",
				 record->type);
	if (is_of_unknown_event(decoder, record)) {
		ret->kind = EVENT_UNKNOWN;
		return 0;
	}
	ret->source = (uint32_t)(source - decoder->sources);
	if (record->type == PERF_RECORD_SAMPLE)
		return decode_sample(&c, record, &source->attr, ret, fault);

	c.end = (const char *)record + trailer_end(source, record);
	if (cursor_left(&c) < source->trailer_bytes)
		return fault_set(fault, -EBADMSG, "record of type %u of only %u bytes",
				 record->type, record->size);
	c.end -= source->trailer_bytes;
	if (!decode_body(&c, record, &source->attr, ret))
		return fault_set(fault, -EBADMSG,
				 "record of type %u ends before what it should hold", record->type);
	decode_trailer(record, source, ret);
	return 0;
}
