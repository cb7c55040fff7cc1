/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tasks in the order of their last sample, so that the ones that have not run for longest are
 * forgotten first; and the code that they execute. */
#include "common/stitch/stitch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/stitch/call-walk.h"
#include "common/util/array.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>
#include <utlist.h>

#define MAX_TASKS     4096u
#define N_RECENT      256u
#define KNOWN_BITS    15 /* see learn_calls() */
#define INDEX_NOTHING UINT64_MAX

struct slot {
	struct task task; /* its tid is the key */
	UT_hash_handle hh;
	struct slot *prev, *next; /* neighbours in the order of the last sample */
};

struct program {
	struct function_starts *starts;
	int32_t pid;
	UT_hash_handle hh;
};

struct stitch {
	struct stitch_settings settings;
	struct stitch_counters counters;
	struct slot *by_tid;
	struct slot *oldest;
	struct program *programs;
	uint32_t n_programs; /* so far */
	struct slot *recent[N_RECENT];
	uint32_t depth;
	uint32_t epoch;   /* increases when samples are lost */
	bool index_moves; /* an index other than 0 was seen, so it is a real one */
	struct function_starts_cache functions;
	uint64_t known[1u << KNOWN_BITS];
	struct stitched_call calls[TASK_MAX_ROWS + TASK_MAX_LEVELS]; /* room for call_walk_run() */
	/* For stacks that are not remembered. */
	uint64_t no_marker;
};

int stitch_new(struct stitch **ret, const struct stitch_settings *settings)
{
	struct stitch *stitch = calloc(1, sizeof(*stitch));

	if (!stitch)
		return -ENOMEM;
	stitch->settings = *settings;
	if (stitch->settings.max_tasks == 0)
		stitch->settings.max_tasks = MAX_TASKS;
	stitch->depth = MIN(settings->depth, TASK_MAX_ROWS);
	stitch->functions.find = settings->find_function;
	stitch->functions.userdata = settings->userdata;
	*ret = stitch;
	return 0;
}

static struct slot **recent_slot(struct stitch *stitch, int32_t tid)
{
	return &stitch->recent[(uint32_t)tid % N_RECENT];
}

static void release_starts(struct stitch *stitch, struct function_starts *starts)
{
	int32_t pid = function_starts_pid(starts);
	struct program *program;

	if (--*function_starts_users(starts) > 0)
		return;
	HASH_FIND(hh, stitch->programs, &pid, sizeof(pid), program);
	if (program && program->starts == starts) {
		HASH_DEL(stitch->programs, program);
		free(program);
	}
	function_starts_free(starts);
}

static void forget(struct stitch *stitch, struct slot *slot)
{
	struct slot **recent = recent_slot(stitch, slot->task.tid);

	if (*recent == slot)
		*recent = NULL;
	HASH_DEL(stitch->by_tid, slot);
	DL_DELETE(stitch->oldest, slot);
	release_starts(stitch, slot->task.starts);
	free(slot->task.levels);
	free(slot);
}

static void forget_process(struct stitch *stitch, int32_t pid)
{
	struct program *program;
	struct slot *slot, *next;

	HASH_FIND(hh, stitch->programs, &pid, sizeof(pid), program);
	if (!program)
		return;
	HASH_ITER(hh, stitch->by_tid, slot, next)
		if (function_starts_pid(slot->task.starts) == pid)
			forget(stitch, slot);
}

struct stitch *stitch_free(struct stitch *stitch)
{
	struct slot *slot, *next;

	if (!stitch)
		return NULL;
	HASH_ITER(hh, stitch->by_tid, slot, next)
		forget(stitch, slot);
	free(stitch);
	return NULL;
}

const struct stitch_counters *stitch_get_counters(const struct stitch *stitch)
{
	return &stitch->counters;
}

static struct function_starts *get_starts(struct stitch *stitch, int32_t pid)
{
	struct program *program;

	HASH_FIND(hh, stitch->programs, &pid, sizeof(pid), program);
	if (program)
		return program->starts;
	program = calloc(1, sizeof(*program));
	if (!program || function_starts_new(&program->starts, pid, stitch->n_programs++,
					    &stitch->functions) < 0) {
		free(program);
		return NULL;
	}
	program->pid = pid;
	HASH_ADD(hh, stitch->programs, pid, sizeof(pid), program);
	if (program->hh.tbl)
		return program->starts;
	function_starts_free(program->starts);
	free(program);
	return NULL;
}

static struct slot *add_slot(struct stitch *stitch, int32_t pid, int32_t tid)
{
	struct slot *slot = calloc(1, sizeof(*slot));

	if (!slot)
		return NULL;
	slot->task.tid = tid;
	slot->task.start = TASK_NO_START;
	slot->task.starts = get_starts(stitch, pid);
	if (!slot->task.starts) {
		free(slot);
		return NULL;
	}
	++*function_starts_users(slot->task.starts);
	HASH_ADD(hh, stitch->by_tid, task.tid, sizeof(tid), slot);
	if (!slot->hh.tbl) {
		release_starts(stitch, slot->task.starts);
		free(slot);
		return NULL;
	}
	DL_APPEND(stitch->oldest, slot);
	if (HASH_COUNT(stitch->by_tid) > stitch->settings.max_tasks) {
		forget(stitch, stitch->oldest);
		stitch->counters.evicted++;
	}
	return slot;
}

static struct slot *find_slot(struct stitch *stitch, int32_t tid)
{
	struct slot **recent = recent_slot(stitch, tid), *slot = *recent;

	if (slot && slot->task.tid == tid)
		return slot;
	HASH_FIND(hh, stitch->by_tid, &tid, sizeof(tid), slot);
	if (slot)
		*recent = slot;
	return slot;
}

static struct task *get_task(struct stitch *stitch, int32_t pid, int32_t tid)
{
	struct slot *slot = find_slot(stitch, tid);

	if (slot && function_starts_pid(slot->task.starts) != pid) { /* its exit was not reported */
		forget(stitch, slot);
		slot = NULL;
	}
	if (!slot) {
		slot = add_slot(stitch, pid, tid);
	} else if (slot->next) {
		DL_DELETE(stitch->oldest, slot);
		DL_APPEND(stitch->oldest, slot);
	}
	return slot ? &slot->task : NULL;
}

/* The number of registers, from the most records that a sample had. Heights computed with another
 * number are void. */
static void learn_depth(struct stitch *stitch, uint32_t n_rows)
{
	struct slot *slot, *next;

	if (stitch->settings.depth > 0 || n_rows <= stitch->depth)
		return;
	stitch->depth = 8;
	while (stitch->depth < n_rows)
		stitch->depth *= 2;
	HASH_ITER(hh, stitch->by_tid, slot, next)
		forget(stitch, slot);
}

/* Architectural LBRs report -1, or whatever was in memory: mostly 0, from boot on (Linux 6.1,
 * arch/x86/events/intel/lbr.c, intel_pmu_arch_lbr_read). */
static void read_index(struct stitch *stitch, const struct sample *sample, struct snapshot *s)
{
	if (stitch->settings.is_wiped || !sample->has_hw_idx || sample->hw_idx == INDEX_NOTHING)
		return;
	stitch->index_moves |= sample->hw_idx != 0;
	s->has_index = stitch->index_moves;
	s->index = (uint32_t)(sample->hw_idx % s->depth);
}

static bool has_cycles(const struct snapshot *s)
{
	for (uint32_t i = 0; i < s->n_rows; i++)
		if (s->rows[i].flags != 0)
			return true;
	return false;
}

/* Forgets the records of calls that have returned by now. */
static void forget_returned(struct task *task)
{
	int64_t end = task->top - (int64_t)task->n_rows + TASK_MAX_ROWS;

	for (int64_t height = task->top + 1; height <= end; height++)
		task_clear_row(task, height);
}

/*
 * The number of records that are not in the same register as at the last snapshot of the task, or
 * before it; without an index, that are not at the same distance from the oldest. Some of them may
 * be the same.
 */
static uint32_t count_new(struct task *task, const struct snapshot *s)
{
	uint32_t n = s->n_rows, n_before = task->n_rows, skip = 0;
	int64_t oldest = task->top - (int64_t)n_before + 1;

	if (!task->is_known || task->learnt != function_starts_identity(task->starts))
		return n;
	if (s->has_index) /* the register of the oldest record less that of the oldest one before */
		skip = (uint32_t)((int64_t)s->index - (int64_t)n -
				  (task->top - (int64_t)n_before)) %
		       s->depth;
	while (n > 0 && skip < TASK_MAX_ROWS &&
	       branch_record_equal(&s->rows[n - 1], task_row(task, oldest + (int64_t)skip))) {
		n--;
		skip++;
	}
	return n;
}

/* Adds the new calls to the known ones. Calls learnt before are skipped. */
static int learn_calls(struct stitch *stitch, struct task *task, const struct snapshot *s)
{
	const uint64_t identity = function_starts_identity(task->starts);

	for (uint32_t i = count_new(task, s); i-- > 0;) {
		const struct branch_record *row = &s->rows[i];
		uint64_t older = i + 1 < s->n_rows ? s->rows[i + 1].to : FUNCTION_STARTS_NONE;
		uint64_t tag = (row->from + identity) * 0x9e3779b97f4a7c15ull ^
			       row->to * 0xbf58476d1ce4e5b9ull ^ older * 0x94d049bb133111ebull;
		uint64_t *known = &stitch->known[tag >> (64 - KNOWN_BITS)];

		if (*known == tag)
			continue;
		if (function_starts_learn(task->starts, row->from, row->to) < 0)
			return -ENOMEM;
		if (older != FUNCTION_STARTS_NONE)
			function_starts_reach(task->starts, older, row->from);
		*known = tag;
	}
	task->learnt = identity;
	if (s->n_rows == 0 && function_starts_ask(task->starts, s->ip) < 0)
		return -ENOMEM;
	if (!s->has_index && s->n_rows > 0)
		function_starts_reach(task->starts, s->rows[0].to, s->ip);
	return 0;
}

/*
 * The registers outlive an exec: the newest record of code that is not mapped any more, and all
 * older ones, are of the program before. After a snapshot without such records none has them:
 * records do not come back.
 */
static void drop_stale_records(struct task *task, struct snapshot *s)
{
	uint32_t n = 0;

	while (n < s->n_rows && function_starts_has_code(task->starts, s->rows[n].from) &&
	       function_starts_has_code(task->starts, s->rows[n].to))
		n++;
	task->may_be_stale = n < s->n_rows;
	s->n_rows = n;
}

static void count_stitch_result(struct stitch_counters *c, enum stitch_result kind)
{
	c->stitched += kind == STITCH_MADE;
	c->unaligned += kind == STITCH_UNALIGNED;
	c->ambiguous += kind == STITCH_AMBIGUOUS;
	c->inconsistent += kind == STITCH_INCONSISTENT;
}

int stitch_add(struct stitch *stitch, const struct event *event, uint64_t ip, struct stitched *ret)
{
	const struct sample *sample = &event->sample;
	struct snapshot s = { .ip = ip, .rows = sample->rows };
	struct alignment alignment;
	struct task *task;
	bool was_forgotten;
	int r;

	s.n_rows = MIN(sample->n_rows, TASK_MAX_ROWS);
	learn_depth(stitch, s.n_rows);
	s.depth = MAX(stitch->depth, 1u);
	s.n_rows = MIN(s.n_rows, s.depth);
	task = get_task(stitch, event->pid, event->tid);
	if (!task)
		return -ENOMEM;
	read_index(stitch, sample, &s);
	s.has_cycles = has_cycles(&s);
	if (task->may_be_stale)
		drop_stale_records(task, &s);
	if (task->epoch != stitch->epoch)
		task->is_sure = false;
	task->epoch = stitch->epoch;
	was_forgotten = task->learnt != function_starts_identity(task->starts);
	r = learn_calls(stitch, task, &s);
	if (r < 0)
		return r;
	if (task->is_known)
		snapshot_align(&alignment, task, &s);
	r = call_walk_run(ret, stitch->calls, task, &s, task->is_known ? &alignment : NULL);
	if (r < 0)
		return r;
	if (was_forgotten) /* only this snapshot was learnt again */
		forget_returned(task);
	if (sample->unwound != SAMPLE_UNWOUND_WHOLE)
		count_stitch_result(&stitch->counters, (enum stitch_result)r);
	ret->jumps_out = function_starts_jump_out(task->starts);
	stitch->no_marker = 0;
	if (!ret->marker)
		ret->marker = &stitch->no_marker;
	return 0;
}

void stitch_note_left(struct stitch *stitch, int32_t pid)
{
	struct program *program;

	HASH_FIND(hh, stitch->programs, &pid, sizeof(pid), program);
	if (program)
		function_starts_note_left(program->starts);
}

static void forget_task(struct stitch *stitch, int32_t tid)
{
	struct slot *slot = find_slot(stitch, tid);

	if (slot)
		forget(stitch, slot);
}

static void apply_mapping(struct stitch *stitch, const struct event *event)
{
	const struct mapping_event *m = &event->mapping;
	int32_t pid = event->pid;
	struct program *program;

	if (m->kernel)
		return;
	HASH_FIND(hh, stitch->programs, &pid, sizeof(pid), program);
	if (!program)
		return;
	function_starts_forget(program->starts, m->address, m->address + m->n_bytes);
	if (m->executable)
		function_starts_map(program->starts, m->address, m->address + m->n_bytes);
}

/* Its mappings are reported after it. */
static void begin_program(struct stitch *stitch, int32_t pid, int32_t tid)
{
	struct slot *slot;

	forget_process(stitch, pid);
	forget_task(stitch, tid);
	slot = add_slot(stitch, pid, tid);
	if (!slot)
		return;
	slot->task.may_be_stale = true;
	function_starts_begin_mappings(slot->task.starts);
}

void stitch_apply(struct stitch *stitch, const struct event *event)
{
	switch (event->kind) {
	case EVENT_COMM:
		if (event->comm.exec)
			begin_program(stitch, event->pid, event->tid);
		return;
	case EVENT_FORK:
	case EVENT_EXIT:
		forget_task(stitch, event->tid);
		return;
	case EVENT_MAPPING:
		apply_mapping(stitch, event);
		return;
	case EVENT_LOST:
		stitch->epoch++;
		return;
	default:
		return;
	}
}
