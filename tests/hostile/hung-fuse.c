/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file system with one file, "program", that answers one user and hangs for all others, for good:
 *
 *     hung-fuse MOUNT-POINT FILE UID
 *
 * Root mounts it for the user, then it runs as the user. It ends by SIGKILL, which frees those who
 * wait for it.
 */
#define FUSE_USE_VERSION 31
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse3/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char page[4096];
static uid_t user;

static void hang_for_others(void)
{
	while (fuse_get_context()->uid != user)
		pause();
}

static int on_getattr(const char *path, struct stat *st, struct fuse_file_info *file)
{
	(void)file;
	hang_for_others();
	memset(st, 0, sizeof(*st));
	st->st_mode = strcmp(path, "/") == 0 ? S_IFDIR | 0755 : S_IFREG | 0755;
	st->st_nlink = 1;
	st->st_uid = user;
	st->st_size = sizeof(page);
	return strcmp(path, "/") == 0 || strcmp(path, "/program") == 0 ? 0 : -ENOENT;
}

static int on_open(const char *path, struct fuse_file_info *file)
{
	(void)path;
	hang_for_others();
	file->keep_cache = 1;
	return 0;
}

static int on_read(const char *path, char *to, size_t size, off_t offset,
		   struct fuse_file_info *file)
{
	(void)path;
	(void)file;
	hang_for_others();
	if (offset < 0 || (size_t)offset >= sizeof(page))
		return 0;
	if (size > sizeof(page) - (size_t)offset)
		size = sizeof(page) - (size_t)offset;
	memcpy(to, page + offset, size);
	return (int)size;
}

static const struct fuse_operations operations = {
	.getattr = on_getattr,
	.open = on_open,
	.read = on_read,
};

int main(int argc, char **argv)
{
	char mount_options[] = "-oallow_other,entry_timeout=0,attr_timeout=0";
	char *options[] = { argv[0], mount_options };
	struct fuse_args args = FUSE_ARGS_INIT(2, options);
	struct fuse *fuse;
	int fd;

	if (argc != 4)
		errx(2, "usage: hung-fuse MOUNT-POINT FILE UID");
	user = (uid_t)atoi(argv[3]);
	fd = open(argv[2], O_RDONLY);
	if (fd < 0 || read(fd, page, sizeof(page)) != sizeof(page))
		err(1, "%s", argv[2]);
	fuse = fuse_new(&args, &operations, sizeof(operations), NULL);
	if (!fuse || fuse_mount(fuse, argv[1]) != 0)
		errx(1, "cannot mount %s", argv[1]);
	if (setgid(user) < 0 || setuid(user) < 0)
		err(1, "setuid");
	puts("mounted");
	fflush(stdout);
	return fuse_loop(fuse) != 0;
}
