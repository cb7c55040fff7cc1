/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of the methods: a service with a database in a file, and somebody who calls it. */
#pragma once

#include <stdlib.h>

#include "tests/support/methods-service.h"
#include "tests/support/temp-store.h"

struct scene {
	struct temp_store stored;
	struct service service;
	struct caller caller;
	uint64_t n; /* windows */
};

struct scene_settings {
	struct query_limits limits;
	int (*get_peer)(struct peer *ret, int fd, gid_t group); /* NULL: the real one */
	uint64_t n_windows;                                     /* of the seeds 1, 2, ... */
};

static inline void scene_begin(struct scene *scene, const struct scene_settings *settings)
{
	temp_store_init(&scene->stored);
	service_init_at(&scene->service, scene->stored.path, &settings->limits, settings->get_peer);
	for (scene->n = 0; scene->n < settings->n_windows; scene->n++)
		add_window(&scene->service, scene->n + 1, false, scene->n);
	scene->caller = connect_caller(&scene->service);
}

static inline void scene_end(struct scene *scene)
{
	caller_done(&scene->caller);
	service_done(&scene->service);
	temp_store_done(&scene->stored);
}

/* For cmocka: *@state is a new scene. */
static inline int scene_set_up(void **state, const struct scene_settings *settings)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	*state = scene;
	scene_begin(scene, settings);
	return 0;
}

static inline int scene_tear_down(void **state)
{
	scene_end(*state);
	free(*state);
	return 0;
}

/* Does to the database what another program could. */
static inline void scene_run_sql(const struct scene *scene, const char *sql)
{
	sqlite3 *db = temp_store_connect(scene->stored.path);

	temp_store_run(db, sql);
	sqlite3_close(db);
}
