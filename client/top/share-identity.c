/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/top/share-identity.h"

#include "client/top/share.h"
#include "common/util/fnv.h"

static uint64_t add_string(uint64_t hash, const char *string)
{
	return string ? fnv_add_text(hash, string) : fnv_add(hash, "\xff", 1);
}

static uint64_t add_object(uint64_t hash, const struct profile *profile, uint32_t object)
{
	return add_string(hash, object == PROFILE_NONE ? NULL : profile->objects[object].path);
}

uint64_t identity_add_location(uint64_t hash, const struct profile *profile, struct location at)
{
	hash = add_object(hash, profile, at.object);
	return fnv_add(hash, &at.offset, sizeof(at.offset));
}

/* Without its start, which is unknown in profiles that began later. */
static uint64_t add_process(uint64_t hash, const struct profile *profile, uint32_t process)
{
	const struct profile_process *p;

	if (process == PROFILE_NONE)
		return add_string(hash, NULL);
	p = &profile->processes[process];
	hash = fnv_add(hash, &p->pid, sizeof(p->pid));
	return add_string(hash, p->comm);
}

uint64_t share_identity(const struct profile *profile, enum view_by by, const struct share_key *key)
{
	uint64_t hash = FNV_BASIS;

	if (by == VIEW_PROCESS)
		return add_process(hash, profile, key->process);
	if (view_is_owner(by))
		return add_string(hash, key->group);
	hash = add_string(hash, key->symbol);
	hash = add_string(hash, key->file);
	hash = fnv_add(hash, &key->start, sizeof(key->start));
	hash = fnv_add(hash, &key->line, sizeof(key->line));
	return add_object(hash, profile, key->object);
}
