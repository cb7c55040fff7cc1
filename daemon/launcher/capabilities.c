/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A program that root executes gets all capabilities of the bounding set, and one of another user
 * those of the ambient set: both are set to what is kept.
 */
#include "daemon/launcher/capabilities.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define N_CAPABILITIES 64

struct sets {
	struct __user_cap_data_struct half[_LINUX_CAPABILITY_U32S_3];
};

static struct __user_cap_header_struct header(void)
{
	return (struct __user_cap_header_struct){ .version = _LINUX_CAPABILITY_VERSION_3 };
}

static int read_sets(struct sets *ret)
{
	struct __user_cap_header_struct head = header();

	*ret = (struct sets){};
	return syscall(SYS_capget, &head, ret->half) < 0 ? -errno : 0;
}

static uint64_t permitted_of(const struct sets *sets)
{
	return sets->half[0].permitted | (uint64_t)sets->half[1].permitted << 32;
}

/* systemd's filter forbids capset(), and then there is nothing to give up. */
static int write_sets(const struct sets *old, uint64_t keep)
{
	struct __user_cap_header_struct head = header();
	struct sets sets;

	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		uint32_t half = (uint32_t)(keep >> (32 * i)) & old->half[i].permitted;

		sets.half[i].permitted = sets.half[i].effective = sets.half[i].inheritable = half;
	}
	if (memcmp(&sets, old, sizeof(sets)) == 0)
		return 0;
	return syscall(SYS_capset, &head, sets.half) < 0 ? -errno : 0;
}

static int set_ambient(uint64_t kept)
{
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return -errno;
	for (unsigned long i = 0; i < N_CAPABILITIES; i++)
		if (kept & CAPABILITY(i) &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, i, 0, 0) < 0)
			return -errno;
	return 0;
}

/* EINVAL marks the end of the capabilities that the kernel knows. */
int capabilities_limit(uint64_t keep)
{
	for (unsigned long i = 0; i < N_CAPABILITIES; i++) {
		if (keep & CAPABILITY(i))
			continue;
		if (prctl(PR_CAPBSET_DROP, i, 0, 0, 0) < 0)
			return errno == EINVAL || errno == EPERM ? 0 : -errno;
	}
	return 0;
}

int capabilities_keep(uint64_t keep)
{
	struct sets old;
	int r;

	r = read_sets(&old);
	if (r >= 0)
		r = capabilities_limit(keep);
	if (r >= 0)
		r = write_sets(&old, keep);
	if (r >= 0)
		r = set_ambient(keep & permitted_of(&old));
	if (r >= 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		r = -errno;
	return r;
}
