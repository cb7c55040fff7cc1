/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The profile names a few processes that map an object. Any of them that still runs leads to the
 * very file, whatever its mount namespace, also after the file was replaced or deleted. When all of
 * them have ended, the root directory of process 1 shows what the daemon's own sandbox may hide.
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
#define MAX_SYMBOL_BYTES (10u << 20) /* kept from one window to the next */
#define MAX_CODE_BYTES   (1u << 20)  /* for one window: a fifth of a second of the CPU */

/* Processes that have an object mapped. */
struct users {
	int32_t pids[PIDS_OF_OBJECT]; /* 0: none */
};

struct window_symbolizer {
	struct symbolizer *symbols;
	struct open_files *open_files; /* or NULL */
	const struct profile *profile; /* being symbolized, or NULL */
	struct users *users;           /* of each object of the profile; NULL until first needed */
};

static void add_user(struct window_symbolizer *symbolizer, uint32_t object, uint32_t process)
{
	int32_t *pids, pid;

	if (object == PROFILE_NONE || process == PROFILE_NONE)
		return;
	pid = symbolizer->profile->processes[process].pid;
	pids = symbolizer->users[object].pids;
	for (size_t i = 0; pid > 0 && i < PIDS_OF_OBJECT; i++) {
		if (pids[i] == pid)
			return;
		if (pids[i] == 0) {
			pids[i] = pid;
			return;
		}
	}
}

/* Fills in the users of all objects, in one pass over the profile. */
static int find_users(struct window_symbolizer *symbolizer)
{
	const struct profile *p = symbolizer->profile;

	symbolizer->users = calloc(p->n_objects ?: 1, sizeof(*symbolizer->users));
	if (!symbolizer->users)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_stacks; i++)
		add_user(symbolizer, p->stacks[i].frame.object, p->stacks[i].process);
	for (size_t i = 0; i < p->n_branches; i++) {
		add_user(symbolizer, p->branches[i].from.object, p->branches[i].process);
		add_user(symbolizer, p->branches[i].to.object, p->branches[i].process);
	}
	return 0;
}

static int open_kept(const struct window_symbolizer *symbolizer, size_t object)
{
	const struct profile_object *o = &symbolizer->profile->objects[object];
	struct open_file_key key = {
		.inode = o->inode,
		.major = o->major,
		.minor = o->minor,
		.n_build_id = o->n_build_id,
	};

	if (!symbolizer->open_files)
		return -ENOENT;
	memcpy(key.build_id, o->build_id, o->n_build_id);
	return open_files_open(symbolizer->open_files, &key);
}

/* First the open files, then two ways through each process, last the root of process 1. */
static int open_candidate(const struct window_symbolizer *symbolizer, size_t object,
			  unsigned int candidate)
{
	const char *path = symbolizer->profile->objects[object].path;
	int32_t pid;

	if (candidate == 0)
		return open_kept(symbolizer, object);
	if (candidate == N_CANDIDATES - 1)
		return process_file_open(1, path);
	pid = symbolizer->users[object].pids[(candidate - 1) / 2];
	if (!pid)
		return -ESRCH;
	return candidate % 2 ? process_file_open(pid, path) : process_file_open_replaced(pid, path);
}

/* Opens a file for the symbol tables, which ask for each object that they do not know yet. */
static int on_open(const struct profile_object *object, unsigned int *cursor, void *userdata)
{
	struct window_symbolizer *symbolizer = userdata;
	const struct profile *p = symbolizer->profile;
	int fd;

	if (!p || object->kind != OBJECT_FILE || object < p->objects ||
	    object >= p->objects + p->n_objects)
		return -ENOENT;
	if (!symbolizer->users && find_users(symbolizer) < 0)
		return -ENOENT;
	while (*cursor < N_CANDIDATES) {
		fd = open_candidate(symbolizer, (size_t)(object - p->objects), (*cursor)++);
		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}

int window_symbolizer_new(struct window_symbolizer **ret, struct open_files *open_files)
{
	_cleanup_(window_symbolizer_freep) struct window_symbolizer *symbolizer =
		calloc(1, sizeof(*symbolizer));
	struct symbolizer_settings settings = {
		.open = on_open,
		.userdata = symbolizer,
		.max_bytes = MAX_SYMBOL_BYTES,
		.max_code_bytes = MAX_CODE_BYTES,
	};
	int r;

	if (!symbolizer)
		return -ENOMEM;
	symbolizer->open_files = open_files;
	r = symbolizer_new(&symbolizer->symbols, &settings);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(symbolizer);
	return 0;
}

struct window_symbolizer *window_symbolizer_free(struct window_symbolizer *symbolizer)
{
	if (!symbolizer)
		return NULL;
	symbolizer_free(symbolizer->symbols);
	free(symbolizer);
	return NULL;
}

int window_symbolizer_run(struct window_symbolizer *symbolizer, struct profile *profile)
{
	int r;

	symbolizer->profile = profile;
	r = symbolizer_add_functions(symbolizer->symbols, profile);
	symbolizer->profile = NULL;
	free(TAKE_PTR(symbolizer->users));
	return r ?: profile_finalize(profile);
}

int window_symbolizer_read_code(struct window_symbolizer *symbolizer, const struct profile *profile,
				const struct profile_function *function, void *ret, size_t n,
				uint16_t *ret_machine)
{
	const struct profile_object *object = &profile->objects[function->object];
	int r;

	symbolizer->profile = profile;
	r = symbolizer_code(symbolizer->symbols, object, function->start, ret, n, ret_machine);
	symbolizer_close_code(symbolizer->symbols, object);
	symbolizer->profile = NULL;
	free(TAKE_PTR(symbolizer->users));
	return r;
}

static void count_problem(const char *path, const char *why, void *userdata)
{
	++*(size_t *)userdata;
}

size_t window_symbolizer_count_problems(const struct window_symbolizer *symbolizer)
{
	size_t n = 0;

	symbolizer_for_each_problem(symbolizer->symbols, count_problem, &n);
	return n;
}
