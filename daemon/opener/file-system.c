/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/opener/file-system.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "common/util/macro.h"
#include "daemon/opener/root-directory.h"

#define KEPT_US 1000000

/* As in linux/magic.h, and for those that it lacks, in their own sources. */
static const uint32_t remote[] = {
	0x00006969, /* NFS */
	0xff534d42, /* CIFS */
	0xfe534d42, /* SMB2 */
	0x0000517b, /* SMB */
	0x0000564c, /* NCP */
	0x01021997, /* 9P */
	0x5346414f, /* AFS */
	0x6b414653, /* the kernel's AFS */
	0x00c36400, /* CEPH */
	0x73757245, /* CODA */
	0x0bd00bd0, /* Lustre */
	0x20030528, /* OrangeFS */
	0x47504653, /* GPFS */
	0x19830326, /* BeeGFS */
	0xaad7aaea, /* PanFS */
	0x786f4256, /* VirtualBox's shared folders */
	0xbacbacbc, /* VMware's shared folders */
	0x00000187, /* autofs: what is behind it is not mounted yet */
	0x65735546, /* FUSE, virtiofs */
};

static bool is_of_system(dev_t device)
{
	static const char *const paths[] = { ".", "usr" };
	_cleanup_close_ int root = root_directory_open_first();
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(paths) && root >= 0; i++)
		if (fstatat(root, paths[i], &st, 0) == 0 && st.st_dev == device)
			return true;
	return false;
}

bool file_system_is_local(int fd, dev_t device)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(remote); i++)
		if ((uint32_t)fs.f_type == remote[i])
			return is_of_system(device);
	return true;
}

struct mounts {
	unsigned int n, n_nosuid;
};

/* Where process 1 sees the file system of @device. */
static struct mounts find_mounts(dev_t device)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/1/mountinfo", "re");
	_cleanup_free_ char *line = NULL;
	struct mounts mounts = {};
	unsigned int major, minor;
	char options[256];
	size_t n_line = 0;

	while (f && getline(&line, &n_line, f) > 0) {
		if (sscanf(line, "%*u %*u %u:%u %*s %*s %255s", &major, &minor, options) != 3 ||
		    makedev(major, minor) != device)
			continue;
		mounts.n++;
		mounts.n_nosuid += strstr(options, "nosuid") != NULL;
	}
	return mounts;
}

bool file_system_is_mounted(dev_t device)
{
	return find_mounts(device).n > 0;
}

/* Many files of one file system are opened in a row: the last answer is kept for a while. */
bool file_system_has_true_owners(dev_t device)
{
	static dev_t last;
	static uint64_t until_us;
	static bool answer;
	uint64_t now = clock_us(CLOCK_MONOTONIC);
	struct mounts mounts;

	if (device == last && now < until_us)
		return answer;
	mounts = find_mounts(device);
	answer = mounts.n == 0 || mounts.n_nosuid < mounts.n;
	last = device;
	until_us = now + KEPT_US;
	return answer;
}
