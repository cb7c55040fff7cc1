/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perfdata, its records: each is composed in a buffer of its own, since its length stands at its
 * front, and then appended to the file. Fields of samples follow the order of perf_event_open(2),
 * which is the order of the kernel's perf_output_sample().
 */
#include "tests/perfdata/private.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define RECORD_FINISHED_ROUND \
	68 /* perf's own, not the kernel's (tools/lib/perf/include/perf/event.h) */
#define BUILD_ID_BYTES 20

void record_begin(struct perfdata *p, uint32_t type, uint16_t misc)
{
	struct perf_event_header header = { .type = type, .misc = misc };

	memcpy(p->record, &header, sizeof(header));
	p->n_record = sizeof(header);
}

void record_put(struct perfdata *p, const void *data, size_t size)
{
	if (size == 0)
		return;
	if (p->n_record + size > PERFDATA_RECORD_BYTES_MAX) {
		perfdata_fail(p, -E2BIG);
		return;
	}
	memcpy(p->record + p->n_record, data, size);
	p->n_record += size;
}

void record_put_u32(struct perfdata *p, uint32_t value)
{
	record_put(p, &value, sizeof(value));
}

void record_put_u64(struct perfdata *p, uint64_t value)
{
	record_put(p, &value, sizeof(value));
}

/* Strings within records end with at least one zero and are padded to 8 bytes. */
void record_put_string(struct perfdata *p, const char *text)
{
	static const char zeros[8];
	size_t n = strlen(text) + 1;

	record_put(p, text, n);
	record_put(p, zeros, -n & 7);
}

/* Appends a finished record as data of the file, without the checks of features. */
void record_write(struct perfdata *p)
{
	struct perf_event_header *header = (struct perf_event_header *)p->record;

	if (p->error)
		return;
	header->size = p->n_record;
	perfdata_write(p, p->record, p->n_record);
	p->data_size += p->n_record;
}

void record_end(struct perfdata *p)
{
	perfdata_end_features(p);
	record_write(p);
}

static void record_put_id(struct perfdata *p, const struct perfdata_id *id)
{
	uint64_t type = p->attrs[0].sample_type;

	if (!p->attrs[0].sample_id_all)
		return;
	if (type & PERF_SAMPLE_TID) {
		record_put_u32(p, id->pid);
		record_put_u32(p, id->tid);
	}
	if (type & PERF_SAMPLE_TIME)
		record_put_u64(p, id->time);
	if (type & PERF_SAMPLE_ID)
		record_put_u64(p, id->id);
	if (type & PERF_SAMPLE_STREAM_ID)
		record_put_u64(p, id->stream_id);
	if (type & PERF_SAMPLE_CPU) {
		record_put_u32(p, id->cpu);
		record_put_u32(p, 0);
	}
	if (type & PERF_SAMPLE_IDENTIFIER)
		record_put_u64(p, id->id);
}

static void sample_put_head(struct perfdata *p, uint64_t type, const struct perfdata_sample *s)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		record_put_u64(p, s->id.id);
	if (type & PERF_SAMPLE_IP)
		record_put_u64(p, s->ip);
	if (type & PERF_SAMPLE_TID) {
		record_put_u32(p, s->id.pid);
		record_put_u32(p, s->id.tid);
	}
	if (type & PERF_SAMPLE_TIME)
		record_put_u64(p, s->id.time);
	if (type & PERF_SAMPLE_ADDR)
		record_put_u64(p, s->addr);
	if (type & PERF_SAMPLE_ID)
		record_put_u64(p, s->id.id);
	if (type & PERF_SAMPLE_STREAM_ID)
		record_put_u64(p, s->id.stream_id);
	if (type & PERF_SAMPLE_CPU) {
		record_put_u32(p, s->id.cpu);
		record_put_u32(p, 0);
	}
	if (type & PERF_SAMPLE_PERIOD)
		record_put_u64(p, s->period);
	if (type & PERF_SAMPLE_READ)
		record_put_u64(p, s->value);
}

/* The kernel pads raw data so that its u32 of size and the data together are a multiple of 8. */
static void sample_put_raw(struct perfdata *p, const struct perfdata_sample *s)
{
	static const char zeros[8];
	uint32_t padding = -(s->raw_size + sizeof(uint32_t)) & 7;

	record_put_u32(p, s->raw_size + padding);
	record_put(p, s->raw, s->raw_size);
	record_put(p, zeros, padding);
}

static void sample_put_rows(struct perfdata *p, const struct perf_event_attr *attr,
			    const struct perfdata_sample *s)
{
	record_put_u64(p, s->n_rows);
	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		record_put_u64(p, s->hw_idx);
	record_put(p, s->rows, s->n_rows * sizeof(*s->rows));
}

static void sample_put_user(struct perfdata *p, const struct perf_event_attr *attr,
			    const struct perfdata_sample *s)
{
	size_t n = (size_t)__builtin_popcountll(attr->sample_regs_user);

	if (attr->sample_type & PERF_SAMPLE_REGS_USER) {
		record_put_u64(p, s->user_registers ? s->user_registers_abi :
						      PERF_SAMPLE_REGS_ABI_NONE);
		if (s->user_registers)
			record_put(p, s->user_registers, n * sizeof(*s->user_registers));
	}
	if (attr->sample_type & PERF_SAMPLE_STACK_USER) {
		record_put_u64(p, s->user_stack_bytes);
		record_put(p, s->user_stack, s->user_stack_bytes);
		if (s->user_stack_bytes > 0)
			record_put_u64(p, s->user_stack_read);
	}
}

static void sample_put_tail(struct perfdata *p, uint64_t type, const struct perfdata_sample *s)
{
	if (type & PERF_SAMPLE_WEIGHT_TYPE)
		record_put_u64(p, s->weight);
	if (type & PERF_SAMPLE_DATA_SRC)
		record_put_u64(p, s->data_src);
	if (type & PERF_SAMPLE_TRANSACTION)
		record_put_u64(p, s->transaction);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		record_put_u64(p, s->phys_addr);
	if (type & PERF_SAMPLE_CGROUP)
		record_put_u64(p, s->cgroup);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		record_put_u64(p, s->data_page_size);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		record_put_u64(p, s->code_page_size);
}

void perfdata_add_sample(struct perfdata *p, const struct perfdata_sample *s)
{
	const struct perf_event_attr *attr = &p->attrs[s->n_event];
	uint64_t type = attr->sample_type;

	assert(s->n_event < p->n_attrs);
	record_begin(p, PERF_RECORD_SAMPLE, s->misc);
	sample_put_head(p, type, s);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		record_put_u64(p, s->n_callchain);
		record_put(p, s->callchain, s->n_callchain * sizeof(*s->callchain));
	}
	if (type & PERF_SAMPLE_RAW)
		sample_put_raw(p, s);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		sample_put_rows(p, attr, s);
	sample_put_user(p, attr, s);
	sample_put_tail(p, type, s);
	record_end(p);
}

void perfdata_add_comm(struct perfdata *p, const struct perfdata_id *id, uint32_t pid, uint32_t tid,
		       const char *comm, bool exec)
{
	record_begin(p, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
	record_put_u32(p, pid);
	record_put_u32(p, tid);
	record_put_string(p, comm);
	record_put_id(p, id);
	record_end(p);
}

static void mmap2_put_build_id(struct perfdata *p, const struct perfdata_mmap *m)
{
	uint8_t field[24] = { 0 };

	assert(m->build_id_size <= BUILD_ID_BYTES);
	field[0] = m->build_id_size;
	memcpy(field + 4, m->build_id, m->build_id_size);
	record_put(p, field, sizeof(field));
}

static void mmap2_put_inode(struct perfdata *p, const struct perfdata_mmap *m)
{
	record_put_u32(p, m->maj);
	record_put_u32(p, m->min);
	record_put_u64(p, m->ino);
	record_put_u64(p, m->ino_generation);
}

static void record_put_range(struct perfdata *p, const struct perfdata_mmap *m)
{
	record_put_u32(p, m->pid);
	record_put_u32(p, m->tid);
	record_put_u64(p, m->start);
	record_put_u64(p, m->length);
	record_put_u64(p, m->pgoff);
}

void perfdata_add_mmap2(struct perfdata *p, const struct perfdata_id *id,
			const struct perfdata_mmap *m)
{
	record_begin(p, PERF_RECORD_MMAP2,
		     m->misc | (m->build_id ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0));
	record_put_range(p, m);
	if (m->build_id)
		mmap2_put_build_id(p, m);
	else
		mmap2_put_inode(p, m);
	record_put_u32(p, m->prot);
	record_put_u32(p, m->flags);
	record_put_string(p, m->filename);
	record_put_id(p, id);
	record_end(p);
}

void perfdata_add_mmap(struct perfdata *p, const struct perfdata_id *id,
		       const struct perfdata_mmap *m)
{
	record_begin(p, PERF_RECORD_MMAP, m->misc);
	record_put_range(p, m);
	record_put_string(p, m->filename);
	record_put_id(p, id);
	record_end(p);
}

static void perfdata_add_task(struct perfdata *p, const struct perfdata_id *id, uint32_t type,
			      uint32_t pid, uint32_t ppid, uint32_t tid, uint32_t ptid)
{
	record_begin(p, type, 0);
	record_put_u32(p, pid);
	record_put_u32(p, ppid);
	record_put_u32(p, tid);
	record_put_u32(p, ptid);
	record_put_u64(p, id->time);
	record_put_id(p, id);
	record_end(p);
}

void perfdata_add_fork(struct perfdata *p, const struct perfdata_id *id, uint32_t pid,
		       uint32_t ppid, uint32_t tid, uint32_t ptid)
{
	perfdata_add_task(p, id, PERF_RECORD_FORK, pid, ppid, tid, ptid);
}

void perfdata_add_exit(struct perfdata *p, const struct perfdata_id *id, uint32_t pid,
		       uint32_t ppid, uint32_t tid, uint32_t ptid)
{
	perfdata_add_task(p, id, PERF_RECORD_EXIT, pid, ppid, tid, ptid);
}

void perfdata_add_lost(struct perfdata *p, const struct perfdata_id *id, uint64_t event_id,
		       uint64_t n_lost)
{
	record_begin(p, PERF_RECORD_LOST, 0);
	record_put_u64(p, event_id);
	record_put_u64(p, n_lost);
	record_put_id(p, id);
	record_end(p);
}

void perfdata_add_lost_samples(struct perfdata *p, const struct perfdata_id *id, uint64_t n_lost)
{
	record_begin(p, PERF_RECORD_LOST_SAMPLES, 0);
	record_put_u64(p, n_lost);
	record_put_id(p, id);
	record_end(p);
}

void perfdata_add_throttle(struct perfdata *p, const struct perfdata_id *id, bool throttled,
			   uint64_t event_id)
{
	record_begin(p, throttled ? PERF_RECORD_THROTTLE : PERF_RECORD_UNTHROTTLE, 0);
	record_put_u64(p, id->time);
	record_put_u64(p, event_id);
	record_put_u64(p, id->stream_id);
	record_put_id(p, id);
	record_end(p);
}

void perfdata_add_finished_round(struct perfdata *p)
{
	record_begin(p, RECORD_FINISHED_ROUND, 0);
	record_end(p);
}

void perfdata_add_raw(struct perfdata *p, const void *record, size_t size)
{
	perfdata_end_features(p);
	perfdata_write(p, record, size);
	p->data_size += size;
}

uint64_t perfdata_size_bytes(const struct perfdata *p)
{
	return p->data_size;
}
