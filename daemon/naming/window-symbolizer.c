/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The objects of a window have the device and inode of their mappings, and the generation of the
 * inode. The file table knows most of them. The symbol tables ask for the files of those that they
 * have not read yet, or no longer; each costs its part of the window's budget.
 */
#include "daemon/naming/window-symbolizer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/profile/jit-map.h"
#include "common/profile/spread.h"
#include "common/symbol/symbolizer.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"
#include "daemon/naming/budget.h"
#include "daemon/naming/code-reader.h"
#include "daemon/naming/object-users.h"

#define MAX_SYMBOL_BYTES (10u << 20) /* kept from one window to the next */
#define MAX_CODE_BYTES   (32u << 10) /* for one window: 5 ms of the CPU */

/* The time is that of the clock: a parser runs only when nobody else wants the CPU. */
static const struct budget_limits window_limits = {
	.files = 512,
	.bytes = UINT64_C(2) << 30,
	.us = 8000000,
};

struct window_symbolizer {
	struct window_symbolizer_settings settings;
	struct symbolizer *symbols;
	struct file_table *files;
	struct code_reader code;
	struct budget budget;
	struct window_symbolizer_counts counts;
	/* while a profile is named: */
	const struct profile *profile; /* or NULL */
	struct file_key *keys;         /* of its objects; NULL once it is finalized */
	struct object_users *users;
	bool hurry;
};

static bool is_file(const struct profile_object *object)
{
	return object->kind == OBJECT_FILE && object->inode > 0 && object->path[0] == '/';
}

static bool hurry_up(const struct window_symbolizer *s)
{
	return s->hurry || !budget_has_time(&s->budget);
}

/* The file as it was seen, through the processes that mapped it, unless it is open. */
static void seek_file(struct window_symbolizer *s, size_t object)
{
	const struct profile_object *o = &s->profile->objects[object];
	const int32_t *pids = s->users[object].pids;
	const struct named_file *file;

	for (size_t i = 0; i < OBJECT_USERS_MAX && pids[i] > 0; i++) {
		struct mapped_file *mapped;

		if (hurry_up(s))
			return;
		mapped = mapped_file_new(pids[i], &s->keys[object], o->path);
		if (!mapped)
			return;
		file_table_see(s->files, mapped);
		free(mapped);
		file = file_table_find(s->files, &s->keys[object]);
		if (!file || file->is_open)
			return;
	}
}

/* What the file is: by its build-id alone if it can be trusted, else also by itself. */
static void set_identity(struct profile_object *object, const struct named_file *file)
{
	object->generation = 0;
	if (!file || !file->opened || !file->was_read || file->ambiguous)
		return;
	object->untrusted = !file->identity.trusted;
	if (object->untrusted)
		object->ctime_ns = (uint64_t)file->identity.ctime_ns;
	if (file->build_id.n == 0)
		return;
	memcpy(object->build_id, file->build_id.bytes, sizeof(object->build_id));
	object->n_build_id = file->build_id.n;
	if (object->untrusted)
		return;
	object->major = object->minor = 0;
	object->inode = 0;
}

static int name_objects(struct window_symbolizer *s, struct profile *profile)
{
	_cleanup_free_ uint32_t *order = NULL;
	int r = object_users_rank(profile, s->users, &order);

	for (size_t i = 0; i < profile->n_objects && r >= 0; i++) {
		struct profile_object *object = &profile->objects[order[i]];
		struct file_key *key = &s->keys[order[i]];
		const struct named_file *file;

		if (object->n_build_id > 0 || !is_file(object))
			continue;
		if (s->settings.step)
			s->settings.step(s->settings.userdata);
		*key = (struct file_key){ object->major, object->minor, object->inode,
					  object->generation };
		file = file_table_find(s->files, key);
		if (!file || !(file->was_read || file->is_open))
			seek_file(s, order[i]);
		if (!hurry_up(s))
			file_table_read(s->files, key);
		set_identity(object, file_table_find(s->files, key));
	}
	return r;
}

/* The file of an object of the profile; false: none is known. */
static bool find_key(const struct window_symbolizer *s, size_t object, struct file_key *ret)
{
	if (!s->keys)
		return file_table_find_object(s->files, &s->profile->objects[object], ret);
	*ret = s->keys[object];
	return ret->inode > 0;
}

static int open_object(struct window_symbolizer *s, size_t object)
{
	const struct named_file *file;
	struct file_key key;

	if (!find_key(s, object, &key))
		return -ENOENT;
	file = file_table_find(s->files, &key);
	if (file && file->ambiguous)
		return -ESTALE;
	if (s->keys && (!file || !file->is_open))
		seek_file(s, object);
	file = file_table_find(s->files, &key);
	if (!file || !file->is_open)
		return -ENOENT;
	if (s->keys &&
	    (s->hurry || !budget_take(&s->budget, &file->identity, s->users[object].is_hot)))
		return -EAGAIN;
	return file_table_open(s->files, &key);
}

/* Opens a file for the symbol tables, which ask for each object that they do not know yet. */
static int on_open(const struct profile_object *object, unsigned int *cursor, void *userdata)
{
	struct window_symbolizer *s = userdata;
	const struct profile *p = s->profile;

	if (!p || object->kind != OBJECT_FILE || object < p->objects ||
	    object >= p->objects + p->n_objects || (*cursor)++ > 0)
		return -ENOENT;
	if (s->settings.step)
		s->settings.step(s->settings.userdata);
	return open_object(s, (size_t)(object - p->objects));
}

/* How old the process is whose memory it is; 0: unknown. */
static uint64_t age_us(const struct profile_object *object)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC);

	return object->ctime_ns ? now - MIN(now, object->ctime_ns / 1000) : 0;
}

/*
 * The file with the names of a process's own code. It must be of those who run the code: nobody
 * names what runs as somebody else.
 */
static int open_jit(struct window_symbolizer *s, size_t object)
{
	const struct object_users *users = &s->users[object];
	const struct opener_jit process = {
		.pid = jit_map_pid(&s->profile->objects[object]),
		.uid = users->uid,
		.age_us = age_us(&s->profile->objects[object]),
	};
	struct file_identity identity;
	int fd;

	if (hurry_up(s))
		return -EAGAIN;
	fd = s->settings.open_jit(&process, &identity, s->settings.userdata);
	if (fd < 0 || budget_take(&s->budget, &identity, users->is_hot))
		return fd;
	close(fd);
	return -EAGAIN;
}

static int on_jit(const struct profile_object *object, void *userdata)
{
	struct window_symbolizer *s = userdata;
	const struct profile *p = s->profile;

	if (!p || !s->keys || object < p->objects || object >= p->objects + p->n_objects)
		return -ENOENT;
	if (s->settings.step)
		s->settings.step(s->settings.userdata);
	return open_jit(s, (size_t)(object - p->objects));
}

static int on_kallsyms(void *userdata)
{
	const struct window_symbolizer *s = userdata;

	return s->settings.open_kallsyms(s->settings.kallsyms_userdata);
}

int window_symbolizer_new(struct window_symbolizer **ret, struct file_table *files,
			  const struct window_symbolizer_settings *with)
{
	_cleanup_(window_symbolizer_freep) struct window_symbolizer *s = calloc(1, sizeof(*s));
	struct symbolizer_settings settings = {
		.open = on_open,
		.only_open = true,
		.open_jit = with->open_jit ? on_jit : NULL,
		.open_kallsyms = with->open_kallsyms ? on_kallsyms : NULL,
		.parser = with->parser,
		.keeper = with->keeper,
		.userdata = s,
		.max_bytes = MAX_SYMBOL_BYTES,
		.max_code_bytes = MAX_CODE_BYTES,
	};
	int r;

	if (!s)
		return -ENOMEM;
	s->files = files;
	s->settings = *with;
	r = symbolizer_new(&s->symbols, &settings);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(s);
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

static void count_problem(const char *path, const char *why, void *userdata)
{
	++*(uint64_t *)userdata;
}

static void end_naming(struct window_symbolizer *s)
{
	s->counts.deferred = s->budget.n_refused;
	s->counts.unnamed = 0;
	symbolizer_for_each_problem(s->symbols, count_problem, &s->counts.unnamed);
	s->counts.malformed = symbolizer_malformed(s->symbols);
	s->profile = NULL;
	free(TAKE_PTR(s->keys));
	free(TAKE_PTR(s->users));
}

/* Processes that were counted together had the number of one of them, to find their files. */
static void forget_numbers(struct profile *profile)
{
	for (size_t i = 0; i < profile->n_processes; i++) {
		struct profile_process *process = &profile->processes[i];

		if (process->n_gone == 0)
			continue;
		process->pid = -1;
		process->start_ns = 0;
		profile->finalized = false;
	}
}

static int name_profile(struct window_symbolizer *s, struct profile *profile)
{
	int r = name_objects(s, profile);

	if (r >= 0)
		r = symbolizer_add_functions(s->symbols, profile);
	free(TAKE_PTR(s->keys)); /* finalizing changes the numbers of the objects */
	forget_numbers(profile);
	if (r >= 0)
		r = profile_finalize(profile);
	return r < 0 ? r : profile_spread_ticks(profile);
}

int window_symbolizer_run(struct window_symbolizer *symbolizer, struct window_profile *window,
			  bool hurry)
{
	struct window_symbolizer *s = symbolizer;
	struct profile *profile = window->profile;
	int r = -ENOMEM;

	s->profile = profile;
	s->hurry = hurry;
	budget_begin(&s->budget, &window_limits);
	s->keys = calloc(profile->n_objects ?: 1, sizeof(*s->keys));
	s->users = calloc(profile->n_objects ?: 1, sizeof(*s->users));
	if (s->keys && s->users)
		r = name_profile(s, profile);
	if (r >= 0 && !hurry && !window->window.open)
		r = code_reader_read(&s->code, s->symbols, profile, &window->code);
	end_naming(s);
	return r;
}

void window_symbolizer_get_counts(const struct window_symbolizer *symbolizer,
				  struct window_symbolizer_counts *ret)
{
	*ret = symbolizer->counts;
}

void window_symbolizer_for_each_failure(const struct window_symbolizer *symbolizer,
					symbolizer_problem_handler handler, void *userdata)
{
	symbolizer_for_each_failure(symbolizer->symbols, handler, userdata);
}
