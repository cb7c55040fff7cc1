/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A descriptor of /proc/PID stays with this process. So what is read of it and what is found below
 * its root belong together, whoever gets the pid next.
 */
#include "daemon/opener/open-jit-map.h"

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
#include <unistd.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "common/util/macro.h"
#include "daemon/opener/found-file.h"
#include "daemon/opener/root-directory.h"

#define TICK_US 20000 /* the kernel's start of a process is less exact than this */

static FILE *open_text(int process, const char *name)
{
	int fd = openat(process, name, O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (!f && fd >= 0)
		close(fd);
	return f;
}

/* The pid in its own namespace. Kernels without pid namespaces have no NSpid. */
static int32_t read_own_pid(int process, int32_t pid)
{
	_cleanup_fclose_ FILE *f = open_text(process, "status");
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "NSpid:", 6) == 0)
			return (int32_t)strtol(strrchr(line, '\t') ?: "", NULL, 10);
	return pid;
}

/* Whether it has been there for @age_us. Suspended time counts, so it may seem older. */
static bool is_as_old(int process, uint64_t age_us)
{
	_cleanup_fclose_ FILE *f = open_text(process, "stat");
	uint64_t ticks, start_us;
	char line[1024], *at;

	if (!f || !fgets(line, sizeof(line), f))
		return false;
	at = strrchr(line, ')'); /* its name may have blanks */
	if (!at ||
	    sscanf(at + 1,
		   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
		   "%*d %" SCNu64,
		   &ticks) != 1)
		return false;
	start_us = ticks * 1000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	return start_us + age_us <= clock_us(CLOCK_BOOTTIME) + TICK_US;
}

/*
 * An O_PATH descriptor, perhaps of a link, of the map of @pid. Takes @below, a root directory or
 * -errno.
 */
static int find_map(int below, int32_t pid)
{
	struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	_cleanup_close_ int root = below;
	char path[64];
	int r;

	if (root < 0)
		return root;
	snprintf(path, sizeof(path), "/tmp/perf-%" PRId32 ".map", pid);
	r = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	return r < 0 ? -errno : r;
}

static bool may_name(const struct stat *st, uint32_t uid)
{
	return st->st_uid == uid || (st->st_uid == 0 && st->st_mode & S_IROTH);
}

/* Whether the file changed in the last @age_us; 0: at any time. */
static bool is_younger(const struct stat *st, uint64_t age_us)
{
	uint64_t changed_us =
		(uint64_t)st->st_ctim.tv_sec * 1000000 + (uint64_t)st->st_ctim.tv_nsec / 1000;

	return age_us == 0 || changed_us + age_us + TICK_US >= clock_us(CLOCK_REALTIME);
}

static int is_its_map(const struct stat *st, const struct opener_request *request)
{
	if (!may_name(st, request->uid))
		return -EPERM;
	return is_younger(st, request->age_us) ? 0 : -ESTALE;
}

/* An O_PATH descriptor of its root directory, and its pid in its own namespace; or -errno. */
static int enter(const struct opener_request *request, int32_t *ret_pid)
{
	_cleanup_close_ int process = -1;
	char path[64];
	int root;

	snprintf(path, sizeof(path), "/proc/%" PRId32, request->pid);
	process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (process < 0 || !is_as_old(process, request->age_us))
		return -ESRCH;
	root = openat(process, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	*ret_pid = read_own_pid(process, request->pid);
	return root;
}

int open_jit_map(const struct opener_request *request, struct file_identity *ret)
{
	int32_t pid = request->pid;
	int root = enter(request, &pid);
	struct stat st;

	if (root < 0)
		root = root_directory_open_first();
	return found_file_open(find_map(root, pid), request, is_its_map, &st, ret);
}
