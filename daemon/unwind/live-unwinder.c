/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/unwind/live-unwinder.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "common/record/user-registers.h"
#include "common/util/cleanup.h"
#include "daemon/unwind/kept-samples.h"
#include "daemon/unwind/object-tables.h"

#define MAX_FRAMES      127u
#define MAX_PART        (MAX_FRAMES + 1) /* a part of a call chain, with its PERF_CONTEXT_* */
#define MAX_KEPT_BYTES  (8u << 20)
#define MAX_TABLE_BYTES (24u << 20)

struct live_unwinder {
	struct live_unwinder_settings settings;
	struct object_tables *tables;
	struct kept_samples *kept;
	struct live_unwinder_counts counts;
	struct short_stacks short_stacks;
	uint16_t machine;
	uint64_t callchain[2 * MAX_PART]; /* of the kernel and of user code */
};

/* One walk. */
struct walk {
	struct live_unwinder *unwinder;
	const struct processes *processes;
	const struct process_context *context;
	const struct mapping *mapping; /* the last one, or NULL */
	bool coming;                   /* a table that it needs */
	bool unknown;                  /* whether code that it needs has a table */
};

int live_unwinder_new(struct live_unwinder **ret, const struct live_unwinder_settings *settings)
{
	_cleanup_(live_unwinder_freep) struct live_unwinder *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		return -ENOMEM;
	short_stacks_init(&u->short_stacks);
	u->settings = *settings;
	u->machine = user_registers_own_machine();
	r = object_tables_new(&u->tables, settings->exchange, MAX_TABLE_BYTES);
	if (r >= 0)
		r = kept_samples_new(&u->kept, MAX_KEPT_BYTES);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(u);
	return 0;
}

struct live_unwinder *live_unwinder_free(struct live_unwinder *unwinder)
{
	if (!unwinder)
		return NULL;
	kept_samples_free(unwinder->kept);
	object_tables_free(unwinder->tables);
	short_stacks_done(&unwinder->short_stacks);
	free(unwinder);
	return NULL;
}

static bool locate(uint64_t address, struct unwind_code *ret, void *userdata)
{
	const struct unwind_table *table;
	struct walk *w = userdata;
	struct live_unwinder *u = w->unwinder;
	enum object_table state;
	struct object *object;

	if (!w->mapping || address < w->mapping->start || address >= w->mapping->end)
		w->mapping = processes_locate(w->processes, w->context, address);
	if (!w->mapping)
		return false;
	object = w->mapping->object;
	state = object_tables_find(u->tables, object, &table);
	w->coming |= state == OBJECT_TABLE_COMING;
	w->unknown |= state == OBJECT_TABLE_COMING || state == OBJECT_TABLE_UNKNOWN;
	ret->by_fp = state == OBJECT_TABLE_NONE;
	if (table && table->machine == u->machine)
		ret->rule = object_tables_find_rule(u->tables, object, table,
						    address + w->mapping->shift, &ret->by_fp);
	return true;
}

/* The part of the sample's call chain that is of the kernel. */
static uint32_t kernel_part(const struct sample *s)
{
	uint32_t n = 0;

	while (n < MIN(s->n_callchain, MAX_PART) && s->callchain[n] != PERF_CONTEXT_USER)
		n++;
	return n;
}

/* Whoever reads a call chain looks a byte before each return address. */
static uint32_t put_frames(struct live_unwinder *u, uint32_t at, const struct unwind_frame *frames,
			   size_t n)
{
	u->callchain[at++] = PERF_CONTEXT_USER;
	u->callchain[at++] = frames[0].place;
	for (size_t i = 1; i < n; i++)
		u->callchain[at++] = frames[i].place + 1;
	return at;
}

/* In the kernel the stack may be gone: the process is about to end, or to run another program. */
static bool has_user_code(const struct sample *s)
{
	return s->n_user_stack > 0 || !address_is_kernel(s->ip);
}

static bool fill_input(struct walk *walk, const struct sample *s, struct unwind_input *ret)
{
	struct user_registers registers;

	if (!user_registers_read(s, walk->unwinder->machine, &registers))
		return false;
	*ret = (struct unwind_input){
		.machine = walk->unwinder->machine,
		.registers = { .ip = registers.ip,
			       .sp = registers.sp,
			       .fp = registers.fp,
			       .lr = registers.lr,
			       .known = registers.known },
		.stack = s->user_stack,
		.stack_address = registers.sp,
		.n_stack = s->n_user_stack,
		.locate = locate,
		.userdata = walk,
	};
	memcpy(ret->registers.values, registers.values, sizeof(registers.values));
	return true;
}

/* Other threads read the counts. */
static void set_count(uint64_t *count, uint64_t value)
{
	__atomic_store_n(count, value, __ATOMIC_RELAXED);
}

static void count(const struct walk *w, const struct unwind_result *result)
{
	struct live_unwinder *u = w->unwinder;
	uint64_t *ended = &u->counts.ended[result->end];
	const struct mapping *mapping;

	set_count(ended, *ended + 1);
	set_count(&u->counts.n_by_fp, u->counts.n_by_fp + result->n_by_fp);
	set_count(&u->counts.n_stacks_by_fp, u->counts.n_stacks_by_fp + (result->n_by_fp > 0));
	if (result->end == UNWIND_COMPLETE)
		return;
	mapping = processes_locate(w->processes, w->context, result->stopped_at);
	if (mapping)
		short_stacks_add(&u->short_stacks, &mapping->object->what,
				 result->end == UNWIND_NO_TABLE);
}

/*
 * The rest of a stack may be known from branch records, but not where a table is missing that may
 * exist, or contradicts the stack: there nothing tells the calls that were left.
 */
static enum sample_unwound how_far(const struct walk *w, const struct sample *s,
				   const struct unwind_result *result)
{
	bool is_whole_copy = s->n_user_stack >= w->unwinder->settings.max_stack;

	if (result->end == UNWIND_COMPLETE && result->by_table)
		return SAMPLE_UNWOUND_WHOLE;
	if (result->end == UNWIND_STACK)
		return is_whole_copy ? SAMPLE_UNWOUND_COPY : SAMPLE_UNWOUND_SHORT;
	if (w->unknown || (result->end != UNWIND_DEPTH && result->by_table))
		return SAMPLE_UNWOUND_SHORT;
	return SAMPLE_UNWOUND_PART;
}

static void set_unwound(const struct walk *w, struct sample *s, const struct unwind_input *input,
			const struct unwind_result *result)
{
	uint64_t n = result->sp - input->stack_address;

	if (s->unwound == SAMPLE_UNWOUND_LATE)
		return;
	s->n_unwound = (uint32_t)MIN(n, s->n_user_stack);
	s->unwound = how_far(w, s, result);
}

/* Puts the frames behind the kernel's part of the call chain. */
static void put_stack(struct live_unwinder *u, struct sample *s, const struct unwind_frame *frames,
		      size_t n)
{
	s->n_callchain = kernel_part(s);
	if (s->n_callchain > 0)
		memcpy(u->callchain, s->callchain, s->n_callchain * sizeof(*s->callchain));
	s->n_callchain = put_frames(u, s->n_callchain, frames, n);
	s->callchain = u->callchain;
}

/* Walks the stack and hands the sample over: 1; or 0 if a table is coming and @may_wait. */
static int walk(struct live_unwinder *u, const struct processes *processes,
		struct process_context *context, const struct event *event, bool may_wait)
{
	struct walk w = { .unwinder = u, .processes = processes, .context = context };
	struct unwind_frame frames[MAX_FRAMES];
	struct unwind_result result;
	struct unwind_input input;
	struct event unwound = *event;
	struct sample *s = &unwound.sample;
	bool has_registers = fill_input(&w, s, &input);
	int r;

	if (has_registers && has_user_code(s)) {
		unwind_walk(&input, frames, MAX_FRAMES, &result);
		if (w.coming && may_wait)
			return 0;
		count(&w, &result);
		set_unwound(&w, s, &input, &result);
		put_stack(u, s, frames, result.n_frames);
	} else if (has_registers) {
		s->unwound = SAMPLE_UNWOUND_SHORT;
	}
	set_count(&u->counts.n_32_bit, u->counts.n_32_bit + s->user_is_32_bit);
	r = u->settings.handler(context, &unwound, u->settings.userdata);
	return r < 0 ? r : 1;
}

struct rewalk {
	struct live_unwinder *unwinder;
	const struct processes *processes;
	size_t n_bytes; /* of the oldest samples, which wait no longer */
};

static int walk_kept(const struct kept_sample *kept, void *userdata)
{
	struct rewalk *again = userdata;
	bool may_wait = again->n_bytes == 0;

	again->n_bytes -= MIN(kept->n_bytes, again->n_bytes);
	return walk(again->unwinder, again->processes, kept->context, &kept->event, may_wait);
}

/* Some at a time, so that most of the others have their table when their turn comes. */
static int make_room(struct live_unwinder *u, const struct processes *processes)
{
	struct rewalk again = { u, processes, MAX_KEPT_BYTES / 4 };

	return kept_samples_for_each(u->kept, walk_kept, &again);
}

int live_unwinder_add(struct live_unwinder *unwinder, const struct processes *processes,
		      struct process_context *context, const struct event *event)
{
	int r = walk(unwinder, processes, context, event, true);
	struct event kept = *event;

	if (r != 0)
		return MIN(r, 0);
	set_count(&unwinder->counts.n_kept, unwinder->counts.n_kept + 1);
	kept.sample.unwound = SAMPLE_UNWOUND_LATE;
	if (kept_samples_add(unwinder->kept, context, &kept))
		return 0;
	r = make_room(unwinder, processes);
	if (r < 0 || kept_samples_add(unwinder->kept, context, &kept))
		return r;
	return MIN(walk(unwinder, processes, context, event, false), 0);
}

int live_unwinder_update(struct live_unwinder *unwinder, const struct processes *processes)
{
	struct rewalk again = { unwinder, processes, 0 };
	size_t n_tables, bytes;

	if (!object_tables_update(unwinder->tables))
		return 0;
	bytes = object_tables_bytes(unwinder->tables, &n_tables);
	set_count(&unwinder->counts.table_bytes, bytes);
	set_count(&unwinder->counts.n_tables, n_tables);
	return kept_samples_for_each(unwinder->kept, walk_kept, &again);
}

int live_unwinder_flush(struct live_unwinder *unwinder, const struct processes *processes)
{
	struct rewalk again = { unwinder, processes, SIZE_MAX };

	return kept_samples_for_each(unwinder->kept, walk_kept, &again);
}

size_t live_unwinder_get_short(struct live_unwinder *unwinder,
			       struct short_stacks_object ret[static SHORT_STACKS_SHOWN])
{
	return short_stacks_get(&unwinder->short_stacks, ret);
}

void live_unwinder_get_counts(const struct live_unwinder *unwinder,
			      struct live_unwinder_counts *ret)
{
	const uint64_t *from = (const uint64_t *)&unwinder->counts;
	uint64_t *to = (uint64_t *)ret;

	for (size_t i = 0; i < sizeof(*ret) / sizeof(*to); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}
