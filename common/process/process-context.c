/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/process/process-context.h"

#include <stdlib.h>
#include <string.h>

#include "common/profile/profile.h"
#include "common/util/cleanup.h"

struct process_context *process_context_ref(struct process_context *process_context)
{
	process_context->n_refs++;
	return process_context;
}

struct process_context *process_context_unref(struct process_context *process_context)
{
	if (!process_context || --process_context->n_refs > 0)
		return NULL;
	address_space_unref(process_context->space);
	free((char *)process_context->comm);
	free((char *)process_context->executable);
	free((char *)process_context->unit);
	free(process_context);
	return NULL;
}

bool process_context_copy_string(const char **ret, const char *s)
{
	*ret = s ? strdup(s) : NULL;
	return !s || *ret;
}

struct process_context *process_context_new(const struct process_context *from, const char *comm,
					    struct address_space *space)
{
	_cleanup_(process_context_unrefp) struct process_context *i = calloc(1, sizeof(*i));

	if (!i)
		return NULL;
	i->n_refs = 1;
	i->context = i->cold_context = PROFILE_NONE;
	i->pid = from->pid;
	i->start_ns = from->start_ns;
	i->uid = from->uid;
	i->restricted = from->restricted;
	i->cgroup = from->cgroup;
	i->exec_seen = from->exec_seen;
	if (!process_context_copy_string(&i->comm, comm ? comm : from->comm) ||
	    !process_context_copy_string(&i->executable, from->executable) ||
	    !process_context_copy_string(&i->unit, from->unit))
		return NULL;
	i->space = space ? address_space_ref(space) : address_space_new();
	return i->space ? TAKE_PTR(i) : NULL;
}
