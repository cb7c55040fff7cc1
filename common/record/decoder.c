/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records to events. A cursor walks each record from its header to its end; every count that a
 * record states is held against the bytes that are left before it is believed.
 */
#include "common/record/decoder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/util/array.h"

/* Bits of branch_sample_type that change a record's shape; the second is newer than some headers. */
#define BRANCH_HW_INDEX PERF_SAMPLE_BRANCH_HW_INDEX
#define BRANCH_COUNTERS (1ull << 19)

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

struct cursor {
	const char *at, *end;
};

static size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

static bool take(struct cursor *c, void *p, size_t n)
{
	if (cursor_left(c) < n)
		return false;
	memcpy(p, c->at, n);
	c->at += n;
	return true;
}

static bool skip(struct cursor *c, uint64_t n)
{
	if (cursor_left(c) < n)
		return false;
	c->at += n;
	return true;
}

/* @n elements of @size bytes, where they lie; NULL if they do not fit. */
static const void *take_array(struct cursor *c, uint64_t n, size_t size)
{
	const char *p = c->at;

	if (n > cursor_left(c) / size)
		return NULL;
	c->at += n * size;
	return p;
}

/* A string that ends within what is left. */
static const char *take_string(struct cursor *c)
{
	const char *s = c->at, *nul = memchr(s, '\0', cursor_left(c));

	if (!nul)
		return NULL;
	c->at = nul + 1;
	return s;
}

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
 * Where the trailer of a record that is no sample ends. That is the end of the record, but for two kinds
 * which the kernel makes longer for each further event that listens, without writing anything there (up
 * to 6.18 at the least: perf_event_ksymbol_output(), perf_event_bpf_output()).
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

/* That which begins @from_end bytes before the end of its trailer, of a record that is no sample. */
static bool trailer_word(const struct source *s, const struct perf_event_header *record,
			 int from_end, uint64_t *ret)
{
	return record_word(record, trailer_end(s, record) - (size_t)from_end, ret);
}

/*
 * The source that @record belongs to, NULL if nothing says. What perf itself made up (the state of the
 * machine at the start) carries id 0 and follows the layout of the first.
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

/* A process or thread; none (-1) is how the kernel says that it cannot, and what no number can be. */
static int32_t task_id(uint32_t id)
{
	return id <= INT32_MAX ? (int32_t)id : -1;
}

static bool take_ids(struct cursor *c, uint64_t type, struct event *ret)
{
	uint64_t word;
	uint32_t pair[2];

	if (type & PERF_SAMPLE_TID) {
		if (!take(c, pair, 8))
			return false;
		ret->pid = task_id(pair[0]);
		ret->tid = task_id(pair[1]);
	}
	if (type & PERF_SAMPLE_TIME) {
		if (!take(c, &word, 8))
			return false;
		ret->time_ns = word != UINT64_MAX ? word : 0;
	}
	return true;
}

static bool skip_read(struct cursor *c, uint64_t format)
{
	uint64_t nr = 1, value_bytes = 8, head = 0;

	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		head += 8;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		head += 8;
	if (format & PERF_FORMAT_ID)
		value_bytes += 8;
	if (format & PERF_FORMAT_LOST)
		value_bytes += 8;
	if (format & PERF_FORMAT_GROUP && !take(c, &nr, 8))
		return false;
	return skip(c, head) && nr <= cursor_left(c) / value_bytes && skip(c, nr * value_bytes);
}

static bool skip_sized(struct cursor *c)
{
	uint64_t n;

	return take(c, &n, 8) && skip(c, n);
}

/* u32 size, data; together padded to 8 bytes. */
static bool take_raw(struct cursor *c, struct sample *s)
{
	uint32_t n;

	if (!take(c, &n, 4))
		return false;
	s->raw = c->at;
	s->n_raw = n;
	return skip(c, (((uint64_t)n + 4 + 7) & ~7ull) - 4);
}

static bool skip_regs(struct cursor *c, uint64_t mask)
{
	uint64_t abi;

	return take(c, &abi, 8) && (abi == 0 || skip(c, 8 * (uint64_t)__builtin_popcountll(mask)));
}

static bool skip_stack(struct cursor *c)
{
	uint64_t n;

	return take(c, &n, 8) && skip(c, n) && (n == 0 || skip(c, 8));
}

static bool take_callchain(struct cursor *c, struct sample *s)
{
	uint64_t n;

	if (!take(c, &n, 8))
		return false;
	s->callchain = take_array(c, n, 8);
	s->n_callchain = (uint32_t)n;
	return s->callchain;
}

static bool take_rows(struct cursor *c, const struct perf_event_attr *attr, struct sample *s)
{
	uint64_t n;

	if (!take(c, &n, 8))
		return false;
	s->has_rows = true;
	s->gaps = !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_ANY);
	s->call_stack = attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
	if (attr->branch_sample_type & BRANCH_HW_INDEX) {
		/* Without rows the kernel may leave the index out, too. */
		s->has_hw_idx = take(c, &s->hw_idx, 8);
		if (!s->has_hw_idx && n != 0)
			return false;
	}
	s->rows = take_array(c, n, sizeof(struct row));
	s->n_rows = (uint32_t)n;
	if (!s->rows)
		return false;
	return !(attr->branch_sample_type & BRANCH_COUNTERS) || skip(c, 8 * n);
}

/* What comes after the rows; nothing of it is used, but all of it must fit. */
static bool skip_rest(struct cursor *c, const struct perf_event_attr *attr)
{
	static const uint64_t words[] = {
		PERF_SAMPLE_PHYS_ADDR,
		PERF_SAMPLE_CGROUP,
		PERF_SAMPLE_DATA_PAGE_SIZE,
		PERF_SAMPLE_CODE_PAGE_SIZE,
	};
	uint64_t t = attr->sample_type;

	if (t & PERF_SAMPLE_REGS_USER && !skip_regs(c, attr->sample_regs_user))
		return false;
	if (t & PERF_SAMPLE_STACK_USER && !skip_stack(c))
		return false;
	if (t & PERF_SAMPLE_WEIGHT_TYPE && !skip(c, 8))
		return false;
	if (t & PERF_SAMPLE_DATA_SRC && !skip(c, 8))
		return false;
	if (t & PERF_SAMPLE_TRANSACTION && !skip(c, 8))
		return false;
	if (t & PERF_SAMPLE_REGS_INTR && !skip_regs(c, attr->sample_regs_intr))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (t & words[i] && !skip(c, 8))
			return false;
	return !(t & PERF_SAMPLE_AUX) || skip_sized(c);
}

static bool take_sample_body(struct cursor *c, const struct perf_event_attr *attr,
			     struct event *ret)
{
	struct sample *s = &ret->sample;
	uint64_t t = attr->sample_type;

	if (t & PERF_SAMPLE_IDENTIFIER && !skip(c, 8))
		return false;
	if (t & PERF_SAMPLE_IP && !take(c, &s->ip, 8))
		return false;
	if (!take_ids(c, t, ret))
		return false;
	if (!skip(c, 8 * (uint64_t)(!!(t & PERF_SAMPLE_ADDR) + !!(t & PERF_SAMPLE_ID) +
				    !!(t & PERF_SAMPLE_STREAM_ID))))
		return false;
	if (t & PERF_SAMPLE_CPU && (!take(c, &ret->cpu, 4) || !skip(c, 4)))
		return false;
	if (t & PERF_SAMPLE_PERIOD && !take(c, &s->period, 8))
		return false;
	if (t & PERF_SAMPLE_READ && !skip_read(c, attr->read_format))
		return false;
	if (t & PERF_SAMPLE_CALLCHAIN && !take_callchain(c, s))
		return false;
	if (t & PERF_SAMPLE_RAW && !take_raw(c, s))
		return false;
	if (t & PERF_SAMPLE_BRANCH_STACK && !take_rows(c, attr, s))
		return false;
	/* After an empty branch stack one word taken for the index may have been the next field's. */
	return skip_rest(c, attr) || (s->has_hw_idx && s->n_rows == 0);
}

static int decode_sample(struct cursor *c, const struct perf_event_header *record,
			 const struct source *source, struct event *ret, struct fault *fault)
{
	struct sample *s = &ret->sample;

	*s = (struct sample){ .period = 1, .uid = UINT32_MAX };
	if (!(source->attr.sample_type & PERF_SAMPLE_PERIOD) && !source->attr.freq)
		s->period = source->attr.sample_period ? source->attr.sample_period : 1;
	s->mode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	if (!take_sample_body(c, &source->attr, ret))
		return fault_set(fault, -EBADMSG, "sample ends before what it should hold");
	ret->kind = EVENT_SAMPLE;
	return 0;
}

/*
 * Is it the build-id form? The kernel marks it, but where one of several events on a machine asked for
 * build-ids it marks those of the others, too, in which there is none. A recording that asked for none has
 * some where `perf inject` has put them: of the two usual sizes.
 */
static bool has_build_id(const struct cursor *c, const struct perf_event_header *record,
			 const struct perf_event_attr *attr)
{
	uint32_t size;

	if (!(record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) || cursor_left(c) < sizeof(size))
		return false;
	memcpy(&size, c->at, sizeof(size));
	return attr->build_id || size == 16 || size == 20;
}

static bool take_inode(struct cursor *c, bool build_id, struct mapping_event *m)
{
	uint8_t n;

	if (build_id) {
		if (!take(c, &n, 1) || n > sizeof(m->build_id) || !skip(c, 3) ||
		    !take(c, m->build_id, sizeof(m->build_id)))
			return false;
		m->n_build_id = n;
		return true;
	}
	return take(c, &m->major, 4) && take(c, &m->minor, 4) && take(c, &m->inode, 8) &&
	       skip(c, 8);
}

static bool decode_mapping(struct cursor *c, const struct perf_event_header *record,
			   const struct perf_event_attr *attr, struct event *ret)
{
	struct mapping_event *m = &ret->mapping;
	uint32_t task[2], protection[2] = { 4 /* PROT_EXEC */ };

	*m = (struct mapping_event){ 0 };
	if (!take(c, task, 8) || !take(c, &m->address, 8) || !take(c, &m->n_bytes, 8) ||
	    !take(c, &m->file_offset, 8))
		return false;
	if (record->type == PERF_RECORD_MMAP2 &&
	    (!take_inode(c, has_build_id(c, record, attr), m) || !take(c, protection, 8)))
		return false;
	m->path = take_string(c);
	if (!m->path)
		return false;
	m->executable = record->type == PERF_RECORD_MMAP2 ?
				protection[0] & 4 :
				!(record->misc & PERF_RECORD_MISC_MMAP_DATA);
	m->kernel = (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == CPU_MODE_KERNEL ||
		    task[0] == UINT32_MAX;
	ret->pid = task_id(task[0]);
	ret->tid = task_id(task[1]);
	ret->kind = EVENT_MAPPING;
	return true;
}

static bool decode_comm(struct cursor *c, const struct perf_event_header *record, struct event *ret)
{
	uint32_t task[2];

	if (!take(c, task, 8))
		return false;
	ret->comm.comm = take_string(c);
	ret->comm.exec = record->misc & PERF_RECORD_MISC_COMM_EXEC;
	ret->pid = task_id(task[0]);
	ret->tid = task_id(task[1]);
	ret->kind = EVENT_COMM;
	return ret->comm.comm;
}

static bool decode_task(struct cursor *c, const struct perf_event_header *record, struct event *ret)
{
	uint32_t task[4]; /* pid, ppid, tid, ptid */
	uint64_t time;

	if (!take(c, task, sizeof(task)) || !take(c, &time, 8))
		return false;
	ret->pid = task_id(task[0]);
	ret->tid = task_id(task[2]);
	ret->fork.parent_pid = task_id(task[1]);
	ret->fork.parent_tid = task_id(task[3]);
	ret->fork.exec = record->misc & PERF_RECORD_MISC_FORK_EXEC;
	if (time != 0)
		ret->time_ns = time;
	ret->kind = record->type == PERF_RECORD_FORK ? EVENT_FORK : EVENT_EXIT;
	return true;
}

static bool decode_lost(struct cursor *c, const struct perf_event_header *record, struct event *ret)
{
	ret->lost.samples = record->type == PERF_RECORD_LOST_SAMPLES;
	if (!ret->lost.samples && !skip(c, 8))
		return false;
	ret->kind = EVENT_LOST;
	return take(c, &ret->lost.n, 8);
}

static bool decode_ksymbol(struct cursor *c, struct event *ret)
{
	struct ksymbol_event *k = &ret->ksymbol;
	uint16_t type, flags;

	if (!take(c, &k->address, 8) || !take(c, &k->n_bytes, 4) || !take(c, &type, 2) ||
	    !take(c, &flags, 2))
		return false;
	k->name = take_string(c);
	k->unregister = flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	ret->kind = EVENT_KSYMBOL;
	return k->name;
}

/* The trailer that sample_id_all adds says whose and when, where the body does not. */
static void decode_trailer(const struct perf_event_header *record, const struct source *source,
			   struct event *ret)
{
	const char *end = (const char *)record + trailer_end(source, record);
	struct cursor c = { end - source->trailer_bytes, end };
	uint64_t t = source->attr.sample_type;
	struct event trailer = { .pid = -1, .tid = -1, .cpu = UINT32_MAX };

	if (!take_ids(&c, t, &trailer))
		return;
	if (ret->kind == EVENT_LOST || ret->kind == EVENT_THROTTLE ||
	    ret->kind == EVENT_UNTHROTTLE) {
		ret->pid = trailer.pid;
		ret->tid = trailer.tid;
	}
	if (trailer.time_ns != 0)
		ret->time_ns = trailer.time_ns;
	skip(&c, 8 * (uint64_t)(!!(t & PERF_SAMPLE_ID) + !!(t & PERF_SAMPLE_STREAM_ID)));
	if (t & PERF_SAMPLE_CPU)
		take(&c, &ret->cpu, 4);
}

static bool decode_body(struct cursor *c, const struct perf_event_header *record,
			const struct perf_event_attr *attr, struct event *ret)
{
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return decode_mapping(c, record, attr, ret);
	case PERF_RECORD_COMM:
		return decode_comm(c, record, ret);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return decode_task(c, record, ret);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return decode_lost(c, record, ret);
	case PERF_RECORD_KSYMBOL:
		return decode_ksymbol(c, ret);
	case PERF_RECORD_THROTTLE:
		ret->kind = EVENT_THROTTLE;
		return true;
	case PERF_RECORD_UNTHROTTLE:
		ret->kind = EVENT_UNTHROTTLE;
		return true;
	}
	return true;
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
	ret->source = (uint32_t)(source - decoder->sources);
	if (record->type == PERF_RECORD_SAMPLE)
		return decode_sample(&c, record, source, ret, fault);

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
