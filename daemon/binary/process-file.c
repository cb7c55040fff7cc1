/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A stranger chooses the path. So it is resolved within the root directory of the process (a link
 * there must not lead to a file here), and nothing is opened that could block or that acts when it
 * is opened. A file without a name is opened through /proc/PID/exe or /proc/PID/map_files.
 */
#include "daemon/binary/process-file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "common/util/cleanup.h"

#define OPEN_FLAGS    (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
#define DELETED       " (deleted)"
/* In /proc/PID/maps. It escapes no other character, not even the backslash. */
#define NEWLINE       "\\012"
#define MAX_PROC_PATH 64
#define MAX_MAPS_LINE 4352 /* a path and the fields before it */
#define MAX_MAPS      65536

static int only_regular(int fd)
{
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	return -ENOEXEC;
}

/*
 * Opens for reading what @found, an O_PATH descriptor that it takes over, refers to. Its type is
 * checked before, because opening a device may act on it.
 */
static int open_found(int found)
{
	_cleanup_close_ int fd = only_regular(found);
	char again[MAX_PROC_PATH];
	int r;

	if (fd < 0)
		return fd;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", fd);
	r = open(again, OPEN_FLAGS);
	return r < 0 ? -errno : r;
}

static int open_beneath(int root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT };
	int found = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	return found < 0 ? -errno : open_found(found);
}

static int open_named(int32_t pid, const char *path)
{
	_cleanup_close_ int root = -1;
	char link[MAX_PROC_PATH];

	snprintf(link, sizeof(link), "/proc/%d/root", pid);
	root = open(link, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root < 0 ? -errno : open_beneath(root, path);
}

void process_file_decode(char *path)
{
	char *to = path, *at;

	while ((at = strstr(path, NEWLINE))) {
		memmove(to, path, (size_t)(at - path));
		to += at - path;
		*to++ = '\n';
		path = at + strlen(NEWLINE);
	}
	memmove(to, path, strlen(path) + 1);
}

/* Whether the target of a link in /proc is @path. */
static bool leads_to(const char *link, const char *path)
{
	char target[4096];
	ssize_t n = readlink(link, target, sizeof(target));

	return n > 0 && (size_t)n == strlen(path) && memcmp(target, path, (size_t)n) == 0;
}

static int open_link(const char *link)
{
	int found = open(link, O_PATH | O_CLOEXEC);

	return found < 0 ? -errno : open_found(found);
}

int process_file_open_range(int32_t pid, uint64_t start, uint64_t end)
{
	char link[MAX_PROC_PATH];

	snprintf(link, sizeof(link), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, start, end);
	return open_link(link);
}

/* The path in a line of /proc/PID/maps, and the range of the mapping; NULL: not such a line. */
static char *parse_line(char *line, uint64_t *ret_start, uint64_t *ret_end)
{
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", ret_start, ret_end, &at) < 2)
		return NULL;
	process_file_decode(line + at);
	return line + at;
}

/* Opens the first mapping of a file with this path, by its range. */
static int open_mapped(int32_t pid, const char *path)
{
	char link[MAX_PROC_PATH], line[MAX_MAPS_LINE];
	_cleanup_fclose_ FILE *f = NULL;
	const char *mapped;
	uint64_t start, end;

	snprintf(link, sizeof(link), "/proc/%d/maps", pid);
	f = fopen(link, "re");
	if (!f)
		return -errno;
	for (size_t i = 0; i < MAX_MAPS && fgets(line, sizeof(line), f); i++) {
		mapped = parse_line(line, &start, &end);
		if (mapped && strcmp(mapped, path) == 0)
			return process_file_open_range(pid, start, end);
	}
	return -ENOENT;
}

/* @path has the mark. */
static int open_deleted(int32_t pid, const char *path)
{
	char link[MAX_PROC_PATH];

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	return leads_to(link, path) ? open_link(link) : open_mapped(pid, path);
}

static bool is_marked(const char *path)
{
	size_t n = strlen(path), mark = strlen(DELETED);

	return n > mark && strcmp(path + n - mark, DELETED) == 0;
}

int process_file_open(int32_t pid, const char *path)
{
	if (path[0] != '/')
		return -ENOENT;
	return is_marked(path) ? open_deleted(pid, path) : open_named(pid, path);
}

int process_file_open_replaced(int32_t pid, const char *path)
{
	_cleanup_free_ char *marked = NULL;

	if (path[0] != '/' || is_marked(path))
		return -ENOENT;
	if (asprintf(&marked, "%s" DELETED, path) < 0)
		return -ENOMEM;
	return open_deleted(pid, marked);
}
