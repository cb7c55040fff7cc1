/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whoever maps a file of root's may put another one in its place, as it sees it: in a mount
 * namespace of its own, on a file system of its own, with the inode number that it likes. All who
 * map the real file would get the names of that one. So the device must be the same.
 *
 * Mappings have the device of the file system, but stat() has others on btrfs and overlayfs. There
 * a mapping of the file is made, and looked up as the kernel shows it. On overlayfs Linux 6.8 to
 * 6.17 report mappings with the device below it, and show them with its own: then an inode number
 * must do, of a file that only root may write, or that is where an administrator mounted it.
 */
#include "daemon/opener/same-file.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "daemon/opener/file-system.h"
#include "daemon/opener/maps-line.h"

#define OVERLAYFS 0x794c7630

/* The line of this process's mapping at @start. */
static bool find_mapping(uint64_t start, struct maps_line *ret)
{
	_cleanup_fclose_ FILE *maps = fopen("/proc/self/maps", "re");
	_cleanup_free_ char *line = NULL;
	size_t n_line = 0;
	bool found = false;

	while (maps && !found && getline(&line, &n_line, maps) > 0)
		found = maps_line_parse(line, ret) && ret->start == start;
	ret->path = NULL;
	return found;
}

/* The mapping is never read. */
static bool is_mapped_as(int fd, const struct opener_request *request)
{
	size_t n = (size_t)sysconf(_SC_PAGESIZE);
	void *mapped = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
	struct maps_line line;
	bool found;

	if (mapped == MAP_FAILED)
		return false;
	found = find_mapping((uintptr_t)mapped, &line);
	munmap(mapped, n);
	return found && line.inode == request->inode && line.major == request->major &&
	       line.minor == request->minor;
}

static bool is_on_overlayfs(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == OVERLAYFS;
}

bool same_file(int fd, const struct stat *st, bool trusted, const struct opener_request *request)
{
	if (st->st_ino != request->inode)
		return false;
	if (st->st_dev == makedev(request->major, request->minor) || is_mapped_as(fd, request))
		return true;
	return is_on_overlayfs(fd) && (trusted || file_system_is_mounted(st->st_dev));
}
