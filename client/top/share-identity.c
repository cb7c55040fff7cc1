/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client/top/share-identity.h"

#include <string.h>

#include "client/top/share.h"

#define FNV_PRIME 0x100000001b3ull

uint64_t identity_add_bytes(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *byte = bytes;

	while (n-- > 0)
		hash = (hash ^ *byte++) * FNV_PRIME;
	return hash;
}

/* With its end, so that "ab", "c" is not "a", "bc". */
uint64_t identity_add_string(uint64_t hash, const char *string)
{
	return string ? identity_add_bytes(hash, string, strlen(string) + 1) :
			identity_add_bytes(hash, "\xff", 1);
}

static uint64_t add_object(uint64_t hash, const struct profile *profile, uint32_t object)
{
	return identity_add_string(hash,
				   object == PROFILE_NONE ? NULL : profile->objects[object].path);
}

uint64_t identity_add_location(uint64_t hash, const struct profile *profile, struct location at)
{
	hash = add_object(hash, profile, at.object);
	return identity_add_bytes(hash, &at.offset, sizeof(at.offset));
}

/* Without its start, which is unknown in profiles that began later. */
static uint64_t add_process(uint64_t hash, const struct profile *profile, uint32_t process)
{
	const struct profile_process *p;

	if (process == PROFILE_NONE)
		return identity_add_string(hash, NULL);
	p = &profile->processes[process];
	hash = identity_add_bytes(hash, &p->pid, sizeof(p->pid));
	return identity_add_string(hash, p->comm);
}

uint64_t share_identity(const struct profile *profile, enum view_by by, const struct share_key *key)
{
	uint64_t hash = IDENTITY_START;

	if (by == VIEW_PROCESS)
		return add_process(hash, profile, key->process);
	if (view_is_owner(by))
		return identity_add_string(hash, key->group);
	hash = identity_add_string(hash, key->symbol);
	hash = identity_add_string(hash, key->file);
	hash = identity_add_bytes(hash, &key->start, sizeof(key->start));
	hash = identity_add_bytes(hash, &key->line, sizeof(key->line));
	return add_object(hash, profile, key->object);
}
