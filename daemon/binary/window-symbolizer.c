/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Objects are named per profile; of each object some processes are known that have it mapped. One
 * of these still there shows the very file, whatever mount namespace it is in, and also after the
 * file was replaced or deleted. When all are gone, the root of process 1 shows what this daemon's
 * own sandbox may hide.
 */
#include "daemon/binary/window-symbolizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/symbol/symbolizer.h"
#include "common/util/cleanup.h"
#include "daemon/binary/process-file.h"

#define PIDS_OF_OBJECT   4
#define N_CANDIDATES     (2 * PIDS_OF_OBJECT + 2)
#define MAX_SYMBOL_BYTES (10u << 20) /* from one window to the next */
#define MAX_CODE_BYTES   (1u << 20)  /* for one window: a fifth of a second of the CPU */

/* Processes that have an object mapped. */
struct users {
	int32_t pids[PIDS_OF_OBJECT]; /* 0: none */
};

struct window_symbolizer {
	struct symbolizer *symbolizer;
	struct open_files *open_files; /* or NULL */
	const struct profile *profile; /* being named */
	struct users *users;           /* of each of its objects; NULL until the first is wanted */
};

static void add_user(struct window_symbolizer *namer, uint32_t object, uint32_t process)
{
	int32_t *pids, pid;

	if (object == PROFILE_NONE || process == PROFILE_NONE)
		return;
	pid = namer->profile->processes[process].pid;
	pids = namer->users[object].pids;
	for (size_t i = 0; pid > 0 && i < PIDS_OF_OBJECT; i++) {
		if (pids[i] == pid)
			return;
		if (pids[i] == 0) {
			pids[i] = pid;
			return;
		}
	}
}

/* Walks the profile once. */
static int find_users(struct window_symbolizer *namer)
{
	const struct profile *p = namer->profile;

	namer->users = calloc(p->n_objects ?: 1, sizeof(*namer->users));
	if (!namer->users)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_stacks; i++)
		add_user(namer, p->stacks[i].frame.object, p->stacks[i].process);
	for (size_t i = 0; i < p->n_branches; i++) {
		add_user(namer, p->branches[i].from.object, p->branches[i].process);
		add_user(namer, p->branches[i].to.object, p->branches[i].process);
	}
	return 0;
}

static int open_kept(const struct window_symbolizer *namer, size_t object)
{
	const struct profile_object *o = &namer->profile->objects[object];
	struct open_file_key key = {
		.inode = o->inode,
		.major = o->major,
		.minor = o->minor,
		.n_build_id = o->n_build_id,
	};

	if (!namer->open_files)
		return -ENOENT;
	memcpy(key.build_id, o->build_id, o->n_build_id);
	return open_files_open(namer->open_files, &key);
}

/* First what was kept; each process has two ways to the file; last comes where process 1 has it. */
static int open_candidate(const struct window_symbolizer *namer, size_t object,
			  unsigned int candidate)
{
	const char *path = namer->profile->objects[object].path;
	int32_t pid;

	if (candidate == 0)
		return open_kept(namer, object);
	if (candidate == N_CANDIDATES - 1)
		return process_file_open(1, path);
	pid = namer->users[object].pids[(candidate - 1) / 2];
	if (!pid)
		return -ESRCH;
	return candidate % 2 ? process_file_open(pid, path) : process_file_open_replaced(pid, path);
}

/* What the symbolizer asks for each object that it has not seen before. */
static int on_open(const struct profile_object *object, unsigned int *cursor, void *userdata)
{
	struct window_symbolizer *namer = userdata;
	const struct profile *p = namer->profile;
	int fd;

	if (!p || object->kind != OBJECT_FILE || object < p->objects ||
	    object >= p->objects + p->n_objects)
		return -ENOENT;
	if (!namer->users && find_users(namer) < 0)
		return -ENOENT;
	while (*cursor < N_CANDIDATES) {
		fd = open_candidate(namer, (size_t)(object - p->objects), (*cursor)++);
		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}

int window_symbolizer_new(struct window_symbolizer **ret, struct open_files *open_files)
{
	_cleanup_(window_symbolizer_freep) struct window_symbolizer *namer =
		calloc(1, sizeof(*namer));
	struct symbolizer_settings settings = {
		.open = on_open,
		.userdata = namer,
		.max_bytes = MAX_SYMBOL_BYTES,
		.max_code_bytes = MAX_CODE_BYTES,
	};
	int r;

	if (!namer)
		return -ENOMEM;
	namer->open_files = open_files;
	r = symbolizer_new(&namer->symbolizer, &settings);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(namer);
	return 0;
}

struct window_symbolizer *window_symbolizer_free(struct window_symbolizer *namer)
{
	if (!namer)
		return NULL;
	symbolizer_free(namer->symbolizer);
	free(namer);
	return NULL;
}

int window_symbolizer_name(struct window_symbolizer *namer, struct profile *profile)
{
	int r;

	namer->profile = profile;
	r = symbolizer_add_functions(namer->symbolizer, profile);
	namer->profile = NULL;
	free(TAKE_PTR(namer->users));
	return r ?: profile_finalize(profile);
}

int window_symbolizer_read_code(struct window_symbolizer *namer, const struct profile *profile,
				const struct profile_function *function, void *ret, size_t n,
				uint16_t *ret_machine)
{
	const struct profile_object *object = &profile->objects[function->object];
	int r;

	namer->profile = profile;
	r = symbolizer_code(namer->symbolizer, object, function->start, ret, n, ret_machine);
	symbolizer_close_code(namer->symbolizer, object);
	namer->profile = NULL;
	free(TAKE_PTR(namer->users));
	return r;
}

static void count_problem(const char *path, const char *why, void *userdata)
{
	++*(size_t *)userdata;
}

size_t window_symbolizer_count_problems(const struct window_symbolizer *namer)
{
	size_t n = 0;

	symbolizer_for_each_problem(namer->symbolizer, count_problem, &n);
	return n;
}
