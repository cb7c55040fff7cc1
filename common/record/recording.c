/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The way of a record: file -> (inflate) -> order -> decoder -> event. Records are passed on in
 * place; only unpacked ones, and those that lie unaligned in the file, are copied. */
#include "common/record/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/record/perf-file.h"
#include "common/record/recording-state.h"
#include "common/record/user-registers.h"

#define READ_AHEAD_BYTES (8u << 20)
#define PREFETCH_AHEAD   (8u << 10)
#define CACHE_LINE       64u

/* The features follow the records, which are valid without them. */
static int read_features(struct recording *r, struct fault *fault)
{
	struct fault inner;
	int ret = header_read_features(&r->file, &r->features, &inner);

	if (ret != -EBADMSG)
		return ret;
	if (!r->force)
		return fault_set(fault, ret, "%s: %s (--force reads what comes before the damage)",
				 r->path, inner.text);
	r->damage.offset = r->header.data_end;
	r->damage.fault = inner;
	return 0;
}

static int read_head(struct recording *r, struct fault *fault)
{
	struct fault inner = { 0 };
	int ret;

	ret = header_read(&r->header, &r->file, r->force, &inner);
	if (ret < 0)
		return fault_set(fault, ret, "%s: %s", r->path, inner.text);
	if (inner.text[0]) {
		r->damage.offset = r->header.data_end;
		r->damage.n_bytes_lost = r->header.n_bytes_missing;
		r->damage.fault = inner;
	}
	r->at = r->header.data_start;
	if (r->header.pipe)
		return 0;
	ret = header_read_attrs(&r->file, r->decoder, &inner);
	if (ret < 0 && ret != -ENOMEM)
		return fault_set(fault, ret, "%s: %s", r->path, inner.text);
	return ret < 0 || r->damage.fault.text[0] ? ret : read_features(r, fault);
}

static int prepare(struct recording *r, const char *path, struct fault *fault)
{
	int ret;

	r->path = strdup(path);
	if (!r->path)
		return -ENOMEM;
	if ((ret = features_init(&r->features)) < 0 || (ret = decoder_new(&r->decoder)) < 0 ||
	    (ret = order_new(&r->order, 0)) < 0)
		return ret;
	ret = mapped_file_open(&r->file, path, fault);
	if (ret < 0)
		return ret;
	ret = read_head(r, fault);
	if (ret < 0)
		return ret;
	return recording_state_fill_names(r);
}

int recording_open(struct recording **ret, const char *path, bool force, struct fault *fault)
{
	_cleanup_(recording_freep) struct recording *r = calloc(1, sizeof(*r));
	int k;

	if (!r)
		return -ENOMEM;
	r->force = force;
	k = prepare(r, path, fault);
	if (k < 0)
		return k;
	*ret = TAKE_PTR(r);
	return 0;
}

struct recording *recording_free(struct recording *recording)
{
	if (!recording)
		return NULL;
	chunk_unref(recording->current.chunk);
	chunk_unref(recording->unaligned);
	free(recording->names);
	order_free(recording->order);
	inflate_free(recording->inflate);
	decoder_free(recording->decoder);
	features_done(&recording->features);
	mapped_file_close(&recording->file);
	free(recording->path);
	free(recording);
	return NULL;
}

const struct recording_info *recording_info(const struct recording *recording)
{
	struct recording_info *info = (struct recording_info *)&recording->info;
	const struct features *f = &recording->features;

	*info = (struct recording_info){
		.hostname = f->hostname,
		.os_release = f->os_release,
		.cpu = f->cpu,
		.cpuid = f->cpuid,
		.n_cpus = f->n_cpus,
		.machine = f->architecture ? user_registers_machine(f->architecture) :
					     user_registers_own_machine(),
		.depth = f->depth,
	};
	return info;
}

/* The events of a command that perf starts begin with its exec. */
bool recording_is_wiped(const struct recording *recording)
{
	const char *release = recording->features.os_release;
	unsigned int major, minor;

	if (!release || sscanf(release, "%u.%u", &major, &minor) != 2 || major > 6 ||
	    (major == 6 && minor >= 15))
		return false;
	for (uint32_t i = 0; i < recording->n_names; i++) {
		const struct perf_event_attr *attr = recording_attr(recording, i);

		if (attr->branch_sample_type != 0 && !attr->enable_on_exec)
			return true;
	}
	return false;
}

size_t recording_n_sources(const struct recording *recording)
{
	return recording->n_names;
}

const struct perf_event_attr *recording_attr(const struct recording *recording, uint32_t source)
{
	return decoder_attr(recording->decoder, source);
}

const char *recording_source_name(const struct recording *recording, uint32_t source)
{
	return recording->names[source];
}

void recording_progress(const struct recording *recording, uint64_t *ret_done, uint64_t *ret_all)
{
	*ret_done = recording->at - recording->header.data_start;
	*ret_all = recording->header.data_end - recording->header.data_start;
}

uint64_t recording_n_unknown(const struct recording *recording)
{
	return recording->n_unknown;
}

uint64_t recording_n_out_of_order(const struct recording *recording)
{
	return order_n_late(recording->order);
}

const struct recording_damage *recording_forced(const struct recording *recording)
{
	return recording->damage.fault.text[0] ? &recording->damage : NULL;
}

static int add_attr(struct recording *r, const char *p, size_t n, uint64_t offset,
		    struct fault *fault)
{
	struct perf_event_attr attr;
	struct fault inner;
	int k;

	k = header_read_attr(&attr, p + 8, n - 8, &inner);
	if (k >= 0)
		k = decoder_add_source(r->decoder, &attr, (const void *)(p + 8 + attr.size),
				       (n - 8 - attr.size) / 8, &inner);
	if (k == -ENOMEM)
		return k;
	if (k < 0)
		return recording_state_end_at_damage(r, offset, inner.text, fault);
	return recording_state_fill_names(r);
}

/* HEADER_FEATURE: u64 number, then the section. */
static int add_feature(struct recording *r, const char *p, size_t n)
{
	uint64_t feature;
	int k;

	if (n < 16)
		return 0;
	memcpy(&feature, p + 8, sizeof(feature));
	if (feature >= N_FEATURES)
		return 0;
	k = features_read(&r->features, (unsigned int)feature, p + 16, n - 16);
	return k < 0 ? k : recording_state_fill_names(r);
}

/* EVENT_UPDATE: u64 type, u64 id, then here a name. */
static int add_update(struct recording *r, const char *p, size_t n)
{
	uint64_t word[2];
	int64_t source;

	if (n <= 24 || !memchr(p + 24, '\0', n - 24))
		return 0;
	memcpy(word, p + 8, sizeof(word));
	source = decoder_find_source(r->decoder, word[1]);
	if (word[0] != EVENT_UPDATE_NAME || source < 0)
		return 0;
	r->names[source] = strings_intern(r->features.strings, p + 24);
	return r->names[source] ? 0 : -ENOMEM;
}

/* The number of bytes that follow the record, as some records state. */
static uint64_t bytes_behind(const char *p, size_t n, uint32_t type)
{
	uint64_t behind = 0;
	uint32_t size;

	if (type == RECORD_AUXTRACE && n >= 16)
		memcpy(&behind, p + 8, sizeof(behind));
	if (type == RECORD_TRACING_DATA && n >= 12) {
		memcpy(&size, p + 8, sizeof(size));
		behind = ((uint64_t)size + 7) & ~7ull;
	}
	return behind;
}

static int feed(struct recording *r, const char *p, size_t n, uint32_t type, uint64_t offset,
		struct fault *fault)
{
	uint64_t size = n - 8;
	size_t head = 8;
	int k;

	if (type == RECORD_COMPRESSED2) { /* u64 size, as the record is padded */
		head = 16;
		if (n >= head)
			memcpy(&size, p + 8, sizeof(size));
		if (n < head || size > n - head)
			return recording_state_end_at_damage(
				r, offset, "packed data longer than its record", fault);
	}
	if (!r->inflate) {
		k = inflate_new(&r->inflate);
		if (k < 0)
			return k;
	}
	inflate_feed(r->inflate, p + head, size, offset);
	r->packed_at = offset;
	r->inflating = true;
	return 0;
}

/* Copies an unaligned record to where its words can be read in place, with its offset before it. */
static int align_record(struct recording *r, const char *p, size_t n, uint64_t offset,
			struct waiting *ret)
{
	struct chunk *chunk = r->unaligned;
	char *to;

	ret->record = (const void *)p;
	if ((uintptr_t)p % 8 == 0)
		return 0;
	if (!chunk || CHUNK_BYTES - chunk->n_used < sizeof(offset) + n) {
		chunk_unref(chunk);
		chunk = r->unaligned = chunk_new(CHUNK_OFFSETS_WITHIN);
		if (!chunk)
			return -ENOMEM;
	}
	to = chunk->data + chunk->n_used;
	memcpy(to, &offset, sizeof(offset));
	memcpy(to + sizeof(offset), p, n);
	chunk->n_used += sizeof(offset) + ((n + 7) & ~7ull);
	ret->record = (const void *)(to + sizeof(offset));
	ret->chunk = chunk_ref(chunk);
	return 0;
}

/* Queues a record to be sorted; takes over the reference to its chunk. */
static int queue(struct recording *r, struct waiting *w)
{
	int k;

	if (decoder_time(r->decoder, w->record, &w->time_ns) == 0)
		w->time_ns = 0;
	k = order_add(r->order, w);
	if (k < 0)
		chunk_unref(w->chunk);
	return k;
}

/* Handles one record of the file, of @n bytes. */
static int dispatch(struct recording *r, const char *p, size_t n, uint32_t type, uint64_t offset,
		    struct fault *fault)
{
	struct waiting w = { 0 };
	int k;

	switch (type) {
	case RECORD_HEADER_ATTR:
		return add_attr(r, p, n, offset, fault);
	case RECORD_HEADER_FEATURE:
		return add_feature(r, p, n);
	case RECORD_HEADER_BUILD_ID:
		return features_read_build_id(&r->features, (const void *)p, n);
	case RECORD_EVENT_UPDATE:
		return add_update(r, p, n);
	case RECORD_COMPRESSED:
	case RECORD_COMPRESSED2:
		return feed(r, p, n, type, offset, fault);
	case RECORD_FINISHED_ROUND:
		return order_finish_round(r->order);
	}
	if (type >= RECORD_HEADER_ATTR) { /* a record of perf itself that does not count */
		r->n_unknown += type > RECORD_LAST_KNOWN;
		return 0;
	}
	k = align_record(r, p, n, offset, &w);
	return k < 0 ? k : queue(r, &w);
}

/* The end of the file's records. */
static int finish(struct recording *r, struct fault *fault)
{
	r->finished = true;
	if (r->inflate && inflate_n_left(r->inflate) > 0)
		return recording_state_note_damage(r, r->at, inflate_n_left(r->inflate),
						   "the compressed data ends within a record",
						   fault);
	return 0;
}

/* The place of a record is known from the one before, so that each would wait for memory: the bytes
 * of those some way ahead are asked for into the second cache, as many as this one has. */
static void prefetch_ahead(const char *p, size_t size, uint64_t left)
{
	if (PREFETCH_AHEAD + size > left)
		return;
	for (size_t i = 0; i < size; i += CACHE_LINE)
		__builtin_prefetch(p + PREFETCH_AHEAD + i, 0, 2);
}

static int read_record(struct recording *r, struct fault *fault)
{
	const char *p = r->file.data + r->at;
	uint64_t left = r->header.data_end - r->at, offset = r->at, behind;
	struct perf_event_header h;
	char what[96];

	if (left == 0)
		return finish(r, fault);
	if (r->at >= r->ahead) {
		mapped_file_read_ahead(&r->file, r->at, READ_AHEAD_BYTES);
		r->ahead = r->at + READ_AHEAD_BYTES;
	}
	if (left < sizeof(h))
		return recording_state_end_at_damage(r, offset, "the file ends within a record",
						     fault);
	memcpy(&h, p, sizeof(h));
	prefetch_ahead(p, h.size, left);
	if (h.size < sizeof(h)) {
		snprintf(what, sizeof(what), "a record of %u bytes", h.size);
		return recording_state_end_at_damage(r, offset, what, fault);
	}
	behind = bytes_behind(p, MIN(h.size, left), h.type);
	if (h.size > left || behind > left - h.size) {
		snprintf(what, sizeof(what),
			 "a record of %" PRIu64 " bytes where %" PRIu64 " are left",
			 h.size + behind, left);
		return recording_state_end_at_damage(r, offset, what, fault);
	}
	r->at += h.size + behind;
	return dispatch(r, p, h.size, h.type, offset, fault);
}

/* Handles the next unpacked record, if the piece holds one more. */
static int read_inflated(struct recording *r, struct fault *fault)
{
	struct waiting w = { 0 };
	struct fault inner;
	int k;

	k = inflate_next(r->inflate, &w.record, &w.chunk, &inner);
	if (k == -EBADMSG)
		return recording_state_end_at_damage(r, r->packed_at, inner.text, fault);
	if (k <= 0) {
		r->inflating = false;
		return k;
	}
	if (w.record->type < RECORD_HEADER_ATTR)
		return queue(r, &w);
	r->n_unknown += w.record->type > RECORD_LAST_KNOWN;
	if (w.record->type == RECORD_FINISHED_ROUND)
		k = order_finish_round(r->order);
	chunk_unref(w.chunk);
	return k < 0 ? k : 0;
}

/* Reads until a record is ready: 1, or 0 at the end of the recording. */
static int next_waiting(struct recording *r, struct fault *fault)
{
	int k;

	chunk_unref(TAKE_PTR(r->current.chunk));
	while (!order_next(r->order, &r->current)) {
		if (r->inflating) {
			k = read_inflated(r, fault);
		} else if (!r->finished) {
			k = read_record(r, fault);
		} else if (!r->drained) {
			r->drained = true;
			k = order_finish(r->order);
		} else {
			return 0;
		}
		if (k < 0)
			return k;
	}
	return 1;
}

/* The file offset of the current record, or of the packed record that it came in. */
static uint64_t current_offset(const struct recording *r)
{
	const struct waiting *w = &r->current;
	uint64_t offset;

	if (!w->chunk)
		return (uint64_t)((const char *)w->record - r->file.data);
	if (w->chunk->file_offset != CHUNK_OFFSETS_WITHIN)
		return w->chunk->file_offset;
	memcpy(&offset, (const char *)w->record - sizeof(offset), sizeof(offset));
	return offset;
}

/* Build-ids are reported as events, as soon as they are known. */
static bool next_build_id(struct recording *r, struct event *ret)
{
	if (r->n_reported == r->features.n_build_ids)
		return false;
	ret->kind = EVENT_BUILD_ID;
	ret->source = 0;
	ret->cpu = UINT32_MAX;
	ret->pid = ret->tid = -1;
	ret->time_ns = 0;
	ret->build_id = r->features.build_ids[r->n_reported++];
	return true;
}

int recording_next(struct recording *recording, struct event *ret, struct fault *fault)
{
	struct fault inner;
	int k;

	for (;;) {
		if (_unlikely_(next_build_id(recording, ret)))
			return 1;
		k = next_waiting(recording, fault);
		if (k < 0)
			return k;
		if (k == 0)
			return next_build_id(recording, ret);
		k = decoder_decode(recording->decoder, recording->current.record, ret, &inner);
		if (k >= 0) {
			if (ret->kind == EVENT_SAMPLE)
				ret->sample.rows_stay = !recording->current.chunk;
			recording->n_unknown += ret->kind == EVENT_UNKNOWN;
			return 1;
		}
		if (k == -ENOMEM)
			return k;
		k = recording_state_note_damage(recording, current_offset(recording),
						recording->current.record->size, inner.text, fault);
		if (k < 0)
			return k;
	}
}
