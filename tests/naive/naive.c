/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/naive/naive.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/array.h"

enum change_kind {
	CHANGE_MAP,
	CHANGE_UNMAP, /* data was mapped: no code is there any more */
	CHANGE_EXEC,
	CHANGE_FORK,
};

struct naive_change {
	enum change_kind kind;
	int32_t pid, parent;
	uint64_t address, n_bytes, file_offset;
	uint64_t object;
	const char *path;
};

void naive_init(struct naive *naive)
{
	*naive = (struct naive){ 0 };
	if (strings_new(&naive->strings) < 0)
		abort();
}

void naive_done(struct naive *naive)
{
	strings_free(naive->strings);
	free(naive->changes);
}

uint64_t naive_object(struct naive *naive, const char *path)
{
	const char *s = strings_intern(naive->strings, path);

	if (!s)
		abort();
	return (uintptr_t)s;
}

static void add(struct naive *naive, const struct naive_change *change)
{
	if (ARRAY_RESERVE(&naive->changes, &naive->cap, naive->n + 1) < 0)
		abort();
	naive->changes[naive->n++] = *change;
}

/* Anonymous memory is its process's. */
static const char *name_object(struct naive *naive, const struct event *event)
{
	char name[64];

	if (event->mapping.kernel || strncmp(event->mapping.path, "//anon", 6) != 0)
		return event->mapping.path;
	snprintf(name, sizeof(name), "perf-%d.map", event->pid);
	return strings_intern(naive->strings, name);
}

void naive_apply(struct naive *naive, const struct event *event)
{
	struct naive_change c = { .pid = event->pid };

	switch (event->kind) {
	case EVENT_MAPPING:
		c.kind = event->mapping.executable || event->mapping.kernel ? CHANGE_MAP :
									      CHANGE_UNMAP;
		c.address = event->mapping.address;
		c.n_bytes = event->mapping.n_bytes;
		c.file_offset = event->mapping.file_offset;
		c.path = strings_intern(naive->strings, name_object(naive, event));
		c.object = event->mapping.kernel ? NAIVE_KERNEL : naive_object(naive, c.path);
		break;
	case EVENT_COMM:
		if (!event->comm.exec)
			return;
		c.kind = CHANGE_EXEC;
		break;
	case EVENT_FORK:
		if (event->pid == event->fork.parent_pid)
			return;
		c.kind = event->fork.exec ? CHANGE_EXEC : CHANGE_FORK;
		c.parent = event->fork.parent_pid;
		break;
	default:
		return;
	}
	add(naive, &c);
}

/* The mapping that @address of @pid lies in: the latest, as far back as its space goes. */
static const struct naive_change *find(const struct naive *naive, int32_t pid, uint64_t address)
{
	bool kernel = address >> 63;

	for (size_t i = naive->n; i-- > 0;) {
		const struct naive_change *c = &naive->changes[i];

		if (c->kind <= CHANGE_UNMAP && kernel == (c->object == NAIVE_KERNEL) &&
		    (kernel || c->pid == pid) && address - c->address < c->n_bytes)
			return c->kind == CHANGE_MAP ? c : NULL;
		if (kernel || c->pid != pid)
			continue;
		if (c->kind == CHANGE_EXEC)
			return NULL;
		if (c->kind == CHANGE_FORK)
			pid = c->parent;
	}
	return NULL;
}

struct naive_place naive_locate(const struct naive *naive, int32_t pid, uint64_t address)
{
	const struct naive_change *c = find(naive, pid, address);

	if (!c)
		return (struct naive_place){ 0, address };
	if (c->object == NAIVE_KERNEL)
		return (struct naive_place){ NAIVE_KERNEL, address };
	if (strcmp(c->path, "[vdso]") == 0)
		return (struct naive_place){ c->object, address - c->address };
	if (c->path[0] != '/')
		return (struct naive_place){ c->object, address };
	return (struct naive_place){ c->object, address - c->address + c->file_offset };
}
