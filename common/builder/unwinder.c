/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An object has the number of its table (struct object, @table), so finding the table of a mapping
 * takes no search.
 */
#include "common/builder/unwinder.h"

#include <errno.h>
#include <stdlib.h>

#include "common/record/user-registers.h"
#include "common/util/array.h"
#include "common/util/cleanup.h"

#define MAX_FRAMES 1024

struct unwinder {
	struct unwinder_settings settings;
	uint16_t machine;
	struct object **objects; /* that have a number */
	struct table {
		struct unwind_table table;
		bool by_fp; /* it has none, so its code may have frame pointers */
	} * tables;
	size_t n, cap_objects, cap_tables;
	int r; /* of getting tables */
	const struct processes *processes;
	const struct process_context *context;
	struct unwind_frame frames[MAX_FRAMES];
};

int unwinder_new(struct unwinder **ret, const struct unwinder_settings *settings, uint16_t machine)
{
	struct unwinder *u = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	u->settings = *settings;
	u->machine = machine;
	*ret = u;
	return 0;
}

struct unwinder *unwinder_free(struct unwinder *u)
{
	if (!u)
		return NULL;
	for (size_t i = 0; i < u->n; i++) {
		u->objects[i]->table = PROFILE_NONE;
		object_unref(u->objects[i]);
		unwind_table_done(&u->tables[i].table);
	}
	free(u->objects);
	free(u->tables);
	free(u);
	return NULL;
}

static bool may_have_table(const struct object *object)
{
	return object->what.kind == OBJECT_FILE || object->what.kind == OBJECT_VDSO;
}

static int add_table(struct unwinder *u, struct object *object)
{
	struct table table = {};
	int r = object->what.kind == OBJECT_MEMORY;

	if (ARRAY_RESERVE(&u->objects, &u->cap_objects, u->n + 1) < 0 ||
	    ARRAY_RESERVE(&u->tables, &u->cap_tables, u->n + 1) < 0)
		return -ENOMEM;
	if (may_have_table(object))
		r = u->settings.get_table(&object->what, &table.table, u->settings.userdata);
	if (r < 0)
		return r;
	table.by_fp = r > 0 && table.table.n_rows == 0;
	u->objects[u->n] = object_ref(object);
	u->tables[u->n] = table;
	object->table = (uint32_t)u->n++;
	return 0;
}

static bool locate(uint64_t address, struct unwind_code *ret, void *userdata)
{
	const struct mapping *mapping;
	struct unwinder *u = userdata;

	if (address_is_kernel(address))
		return false;
	mapping = processes_locate(u->processes, u->context, address);
	if (!mapping)
		return false;
	if (mapping->object->table == PROFILE_NONE) {
		u->r = add_table(u, mapping->object);
		if (u->r < 0)
			return false;
	}
	*ret = (struct unwind_code){
		.table = &u->tables[mapping->object->table].table,
		.offset = address + mapping->shift,
		.by_fp = u->tables[mapping->object->table].by_fp,
	};
	return true;
}

static bool make_input(struct unwinder *u, const struct sample *s, struct unwind_input *ret)
{
	struct user_registers r;

	if (s->call_stack || !s->n_user_stack || !user_registers_read(s, u->machine, &r))
		return false;
	_Static_assert(sizeof(ret->registers.values) == sizeof(r.values), "the same numbers");
	*ret = (struct unwind_input){
		.machine = u->machine,
		.registers = { .ip = r.ip, .sp = r.sp, .fp = r.fp, .lr = r.lr, .known = r.known },
		.stack = s->user_stack,
		.stack_address = r.sp,
		.n_stack = s->n_user_stack,
		.locate = locate,
		.userdata = u,
	};
	for (size_t i = 0; i < ARRAY_SIZE(r.values); i++)
		ret->registers.values[i] = r.values[i];
	return true;
}

int unwinder_add(struct unwinder *u, const struct processes *processes,
		 const struct process_context *context, const struct sample *sample,
		 struct stack *stack, struct unwind_result *ret)
{
	struct unwind_input input;

	if (!make_input(u, sample, &input))
		return 0;
	u->processes = processes;
	u->context = context;
	u->r = 0;
	unwind_walk(&input, u->frames, MAX_FRAMES, ret);
	if (u->r < 0)
		return u->r;
	stack_drop_user(stack);
	if (stack->n == 0 && address_is_kernel(sample->ip) &&
	    stack_push(stack, sample->ip, sample->ip) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < ret->n_frames; i++)
		if (stack_push(stack, u->frames[i].address, u->frames[i].place) < 0)
			return -ENOMEM;
	return 1;
}
