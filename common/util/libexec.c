/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/util/libexec.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LEVELS 5 /* from a test's directory to the top of the build tree */

/*
 * The search in the build tree goes through parents of the program. One of them may be /tmp: a
 * program that somebody else put there does not count.
 */
static bool is_ours(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && !(st.st_mode & S_IWOTH) &&
	       (st.st_uid == 0 || st.st_uid == geteuid());
}

/* The last "/NAME" is cut off. False if there was only one. */
static bool go_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return false;
	*slash = '\0';
	return true;
}

/* 0, -ENOENT or -ENAMETOOLONG */
static int find_below(const char *top, const char *directory, const char *name, char *ret, size_t n)
{
	int r = snprintf(ret, n, "%s/%s/branchd-%s", top, directory, name);

	if (r < 0 || (size_t)r >= n)
		return -ENAMETOOLONG;
	return is_ours(ret) ? 0 : -ENOENT;
}

/* In the build tree the helpers are in daemon/NAME/. */
static int find_in_build_tree(char *directory, const char *name, char *ret, size_t n)
{
	char below[64];
	int r = -ENOENT;

	snprintf(below, sizeof(below), "daemon/%s", name);
	for (int i = 0; i < MAX_LEVELS && r == -ENOENT && go_up(directory); i++)
		r = find_below(directory, below, name, ret, n);
	return r;
}

int libexec_find(const char *name, char *ret, size_t n)
{
	const char *libexec = secure_getenv("BRANCHD_LIBEXEC");
	char self[PATH_MAX];
	ssize_t n_self;
	int r;

	if (libexec && libexec[0])
		return find_below(libexec, ".", name, ret, n);
	n_self = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n_self < 0)
		return -ENOENT;
	self[n_self] = '\0';
	go_up(self);
	r = find_below(self, "../lib/branchd", name, ret, n);
	return r == -ENOENT ? find_in_build_tree(self, name, ret, n) : r;
}
