/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/record/decode-body.h"

/*
 * Is it the build-id form? The kernel marks it, but where one of several events on a machine asked
 * for build-ids it marks those of the others, too, in which there is none. A recording that asked
 * for none has some where `perf inject` has put them: of the two usual sizes.
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
		if (!cursor_take(c, &n, 1) || n > sizeof(m->build_id) || !cursor_skip(c, 3) ||
		    !cursor_take(c, m->build_id, sizeof(m->build_id)))
			return false;
		m->n_build_id = n;
		return true;
	}
	return cursor_take(c, &m->major, 4) && cursor_take(c, &m->minor, 4) &&
	       cursor_take(c, &m->inode, 8) && cursor_take(c, &m->generation, 8);
}

static bool decode_mapping(struct cursor *c, const struct perf_event_header *record,
			   const struct perf_event_attr *attr, struct event *ret)
{
	struct mapping_event *m = &ret->mapping;
	uint32_t task[2], protection[2] = { 4 /* PROT_EXEC */ };

	*m = (struct mapping_event){ 0 };
	if (!cursor_take(c, task, 8) || !cursor_take(c, &m->address, 8) ||
	    !cursor_take(c, &m->n_bytes, 8) || !cursor_take(c, &m->file_offset, 8))
		return false;
	if (record->type == PERF_RECORD_MMAP2 &&
	    (!take_inode(c, has_build_id(c, record, attr), m) || !cursor_take(c, protection, 8)))
		return false;
	m->path = cursor_take_string(c);
	if (!m->path)
		return false;
	m->executable = record->type == PERF_RECORD_MMAP2 ?
				protection[0] & 4 :
				!(record->misc & PERF_RECORD_MISC_MMAP_DATA);
	m->kernel = (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == CPU_MODE_KERNEL ||
		    task[0] == UINT32_MAX;
	ret->pid = event_task_id(task[0]);
	ret->tid = event_task_id(task[1]);
	ret->kind = EVENT_MAPPING;
	return true;
}

static bool decode_comm(struct cursor *c, const struct perf_event_header *record, struct event *ret)
{
	uint32_t task[2];

	if (!cursor_take(c, task, 8))
		return false;
	ret->comm.comm = cursor_take_string(c);
	ret->comm.exec = record->misc & PERF_RECORD_MISC_COMM_EXEC;
	ret->pid = event_task_id(task[0]);
	ret->tid = event_task_id(task[1]);
	ret->kind = EVENT_COMM;
	return ret->comm.comm;
}

static bool decode_task(struct cursor *c, const struct perf_event_header *record, struct event *ret)
{
	uint32_t task[4]; /* pid, ppid, tid, ptid */
	uint64_t time;

	if (!cursor_take(c, task, sizeof(task)) || !cursor_take(c, &time, 8))
		return false;
	ret->pid = event_task_id(task[0]);
	ret->tid = event_task_id(task[2]);
	ret->fork.parent_pid = event_task_id(task[1]);
	ret->fork.parent_tid = event_task_id(task[3]);
	ret->fork.exec = record->misc & PERF_RECORD_MISC_FORK_EXEC;
	if (time != 0)
		ret->time_ns = time;
	ret->kind = record->type == PERF_RECORD_FORK ? EVENT_FORK : EVENT_EXIT;
	return true;
}

static bool decode_lost(struct cursor *c, const struct perf_event_header *record, struct event *ret)
{
	ret->lost.samples = record->type == PERF_RECORD_LOST_SAMPLES;
	if (!ret->lost.samples && !cursor_skip(c, 8))
		return false;
	ret->kind = EVENT_LOST;
	return cursor_take(c, &ret->lost.n, 8);
}

static bool decode_ksymbol(struct cursor *c, struct event *ret)
{
	struct ksymbol_event *k = &ret->ksymbol;
	uint16_t type, flags;

	if (!cursor_take(c, &k->address, 8) || !cursor_take(c, &k->n_bytes, 4) ||
	    !cursor_take(c, &type, 2) || !cursor_take(c, &flags, 2))
		return false;
	k->name = cursor_take_string(c);
	k->unregister = flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	ret->kind = EVENT_KSYMBOL;
	return k->name;
}

#define LAST_KNOWN 21 /* PERF_RECORD_AUX_OUTPUT_HW_ID; those between have no samples */

bool decode_body(struct cursor *c, const struct perf_event_header *record,
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
	if (record->type == 0 || record->type > LAST_KNOWN)
		ret->kind = EVENT_UNKNOWN;
	return true;
}
