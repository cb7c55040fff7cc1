/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/helpers/helpers.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "common/util/cleanup.h"
#include "daemon/launcher/launcher.h"

#define CONNECT_S 5

struct tally {
	_Atomic uint64_t connected, refused, failed;
};

struct helpers {
	char *directory; /* NULL: by the launcher */
	int launcher_fd;
	pthread_mutex_t mutex; /* of the connection to the launcher */
	struct tally tally[HELPER_KINDS];
};

static const char *const names[] = {
	[HELPER_OPENER] = "opener",
	[HELPER_PARSER] = "parser",
	[HELPER_EVENTS] = "events",
};

int helpers_new(struct helpers **ret, const char *directory)
{
	_cleanup_(helpers_freep) struct helpers *helpers = calloc(1, sizeof(*helpers));

	if (!helpers)
		return -ENOMEM;
	helpers->launcher_fd = -1;
	pthread_mutex_init(&helpers->mutex, NULL);
	if (directory) {
		helpers->directory = strdup(directory);
		if (!helpers->directory)
			return -ENOMEM;
	} else {
		helpers->launcher_fd = launcher_start();
		if (helpers->launcher_fd < 0)
			return helpers->launcher_fd;
	}
	*ret = TAKE_PTR(helpers);
	return 0;
}

struct helpers *helpers_free(struct helpers *helpers)
{
	if (!helpers)
		return NULL;
	if (helpers->launcher_fd >= 0)
		close(helpers->launcher_fd);
	pthread_mutex_destroy(&helpers->mutex);
	free(helpers->directory);
	free(helpers);
	return NULL;
}

/* A full backlog would block for ever. */
static int connect_socket(const char *directory, const char *name)
{
	const struct timeval limit = { .tv_sec = CONNECT_S };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = -1;
	int r;

	r = snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", directory, name);
	if (r < 0 || (size_t)r >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0 ||
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	r = fd;
	fd = -1;
	return r;
}

static int request(struct helpers *helpers, enum helper_kind kind)
{
	int r;

	pthread_mutex_lock(&helpers->mutex);
	r = launcher_request(helpers->launcher_fd, kind);
	pthread_mutex_unlock(&helpers->mutex);
	return r;
}

int helpers_connect(struct helpers *helpers, enum helper_kind kind)
{
	int r = helpers->directory ? connect_socket(helpers->directory, names[kind]) :
				     request(helpers, kind);

	atomic_fetch_add(r < 0 ? &helpers->tally[kind].refused : &helpers->tally[kind].connected,
			 1);
	return r;
}

void helpers_count_failure(struct helpers *helpers, enum helper_kind kind)
{
	atomic_fetch_add(&helpers->tally[kind].failed, 1);
}

void helpers_get_counts(const struct helpers *helpers, enum helper_kind kind,
			struct helper_counts *ret)
{
	const struct tally *t = &helpers->tally[kind];

	*ret = (struct helper_counts){
		.connected = atomic_load(&t->connected),
		.refused = atomic_load(&t->refused),
		.failed = atomic_load(&t->failed),
	};
}
