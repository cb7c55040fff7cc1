/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/directories.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DATABASE "branchd.db"
#define TABLES   "unwind-tables"

int directories_make(const char *path, unsigned int mode, struct fault *fault)
{
	if (mkdir(path, mode) == 0 || errno == EEXIST)
		return 0;
	return fault_set(fault, -errno, "cannot make %s: %s", path, strerror(errno));
}

/* Without capabilities root, too, can write only where it is the owner. */
static int check_owner(const char *directory, struct fault *fault)
{
	struct stat st;

	if (geteuid() != 0 || stat(directory, &st) < 0 || st.st_uid == 0)
		return 0;
	return fault_set(fault, -EACCES,
			 "%s belongs to another user than root: have systemd start branchd, or "
			 "choose another --state-directory",
			 directory);
}

static const char *find_state(const char *option)
{
	return option ?: getenv("STATE_DIRECTORY") ?: DIRECTORIES_STATE;
}

static int join(char **ret, const char *directory, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", directory, name) < 0)
		return -ENOMEM;
	*ret = path;
	return 0;
}

int directories_find_database(const char *option, char **ret, struct fault *fault)
{
	const char *directory = find_state(option);
	int r = directories_make(directory, 0750, fault);

	r = r ?: check_owner(directory, fault);
	if (r < 0)
		return r;
	r = join(ret, directory, DATABASE);
	return r < 0 ? fault_set(fault, r, "no memory for a path") : r;
}

int directories_find_tables(const char *option, char **ret)
{
	const char *cache = option ? NULL : getenv("CACHE_DIRECTORY");

	return join(ret, cache ?: find_state(option), TABLES);
}
