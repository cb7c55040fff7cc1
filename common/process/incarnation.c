/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/process/incarnation.h"

#include <stdlib.h>
#include <string.h>

#include "common/profile/profile.h"
#include "common/util/cleanup.h"

struct incarnation *incarnation_ref(struct incarnation *incarnation)
{
	incarnation->n_refs++;
	return incarnation;
}

struct incarnation *incarnation_unref(struct incarnation *incarnation)
{
	if (!incarnation || --incarnation->n_refs > 0)
		return NULL;
	space_unref(incarnation->space);
	free((char *)incarnation->comm);
	free((char *)incarnation->executable);
	free((char *)incarnation->unit);
	free(incarnation);
	return NULL;
}

bool incarnation_copy_string(const char **ret, const char *s)
{
	*ret = s ? strdup(s) : NULL;
	return !s || *ret;
}

struct incarnation *incarnation_new(const struct incarnation *from, const char *comm,
				    struct space *space)
{
	_cleanup_(incarnation_unrefp) struct incarnation *i = calloc(1, sizeof(*i));

	if (!i)
		return NULL;
	i->n_refs = 1;
	i->context = PROFILE_NONE;
	i->pid = from->pid;
	i->start_ns = from->start_ns;
	i->uid = from->uid;
	i->cgroup = from->cgroup;
	i->exec_seen = from->exec_seen;
	if (!incarnation_copy_string(&i->comm, comm ? comm : from->comm) ||
	    !incarnation_copy_string(&i->executable, from->executable) ||
	    !incarnation_copy_string(&i->unit, from->unit))
		return NULL;
	i->space = space ? space_ref(space) : space_new();
	return i->space ? TAKE_PTR(i) : NULL;
}
