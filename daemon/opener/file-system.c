/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/opener/file-system.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "common/util/macro.h"

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
	static const char *const paths[] = { "/proc/1/root/", "/proc/1/root/usr" };
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (stat(paths[i], &st) == 0 && st.st_dev == device)
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
