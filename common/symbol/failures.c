/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "common/symbol/failures.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_FAILURES 1024

struct failure {
	dev_t device;
	ino_t inode;
	struct timespec changed;
	char why[128];
};

struct failures {
	struct failure rows[MAX_FAILURES];
	size_t n; /* ever */
};

int failures_new(struct failures **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

struct failures *failures_free(struct failures *failures)
{
	free(failures);
	return NULL;
}

static bool is_same(const struct failure *failure, const struct stat *st)
{
	return failure->inode == st->st_ino && failure->device == st->st_dev &&
	       failure->changed.tv_sec == st->st_ctim.tv_sec &&
	       failure->changed.tv_nsec == st->st_ctim.tv_nsec;
}

void failures_add(struct failures *failures, int fd, const char *why)
{
	struct failure *row = &failures->rows[failures->n % MAX_FAILURES];
	struct stat st;

	if (fstat(fd, &st) < 0 || failures_find(failures, fd))
		return;
	*row = (struct failure){
		.device = st.st_dev,
		.inode = st.st_ino,
		.changed = st.st_ctim,
	};
	snprintf(row->why, sizeof(row->why), "%s", why);
	failures->n++;
}

const char *failures_find(const struct failures *failures, int fd)
{
	size_t n = MIN(failures->n, (size_t)MAX_FAILURES);
	struct stat st;

	if (n == 0 || fstat(fd, &st) < 0)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (is_same(&failures->rows[i], &st))
			return failures->rows[i].why;
	return NULL;
}
