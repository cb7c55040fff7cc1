/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A ring of pointers. The lock is held while one is put in or taken out, never longer. */
#include "daemon/sampler/mapped-files.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "common/util/clock.h"

#define SHARES    1024
#define RECENT    1024 /* files put lately */
#define WAYS      4    /* neighbouring places; a file is at one */
#define AGAIN_US  100000
#define FORGET_US 120000000 /* after that a file is new again: it may have been closed */
#define TELL_OF   32        /* at least */
#define PASSES    3         /* of mapped_files_tell() until it tells of files that are known */

struct recent {
	uint64_t inode, generation;
	uint32_t major, minor;
	uint64_t put_us;
};

struct mapped_files {
	pthread_mutex_t lock; /* of the next four */
	struct mapped_file *waiting[MAPPED_FILES_MAX];
	uint32_t first, n;
	uint16_t shares[SHARES];      /* how many wait, by the number of their process */
	struct recent recent[RECENT]; /* by their inode; of the collector */
	uint32_t n_new, n_known;      /* untold ones; likewise */
	uint32_t n_passes;            /* since the first of those known */
	uint64_t n_new_ever;          /* told and untold ones; likewise */
	int fd;
	_Atomic uint64_t n_dropped;
};

int mapped_files_new(struct mapped_files **ret)
{
	_cleanup_(mapped_files_freep) struct mapped_files *files = calloc(1, sizeof(*files));

	if (!files)
		return -ENOMEM;
	pthread_mutex_init(&files->lock, NULL);
	files->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (files->fd < 0)
		return -errno;
	*ret = TAKE_PTR(files);
	return 0;
}

struct mapped_files *mapped_files_free(struct mapped_files *files)
{
	if (!files)
		return NULL;
	for (uint32_t i = 0; i < files->n; i++)
		free(files->waiting[(files->first + i) % MAPPED_FILES_MAX]);
	if (files->fd >= 0)
		close(files->fd);
	pthread_mutex_destroy(&files->lock);
	free(files);
	return NULL;
}

static uint16_t *share_of(struct mapped_files *files, int32_t pid)
{
	return &files->shares[(uint32_t)pid % SHARES];
}

static struct mapped_file *copy(int32_t pid, const struct mapping_event *m)
{
	size_t n_path = strlen(m->path) + 1;
	struct mapped_file *file = malloc(sizeof(*file) + n_path);

	if (!file)
		return NULL;
	*file = (struct mapped_file){
		.pid = pid,
		.major = m->major,
		.minor = m->minor,
		.inode = m->inode,
		.generation = m->generation,
		.start = m->address,
		.end = m->address + m->n_bytes,
	};
	memcpy(file->path, m->path, n_path);
	return file;
}

/* Takes @file over, if there is room. */
static bool append(struct mapped_files *files, struct mapped_file *file)
{
	uint16_t *share = share_of(files, file->pid);
	bool room;

	pthread_mutex_lock(&files->lock);
	room = files->n < MAPPED_FILES_MAX && *share < MAPPED_FILES_PER_PROCESS;
	if (room) {
		files->waiting[(files->first + files->n++) % MAPPED_FILES_MAX] = file;
		++*share;
	}
	pthread_mutex_unlock(&files->lock);
	return room;
}

/* When a file was put. */
enum before {
	BEFORE_NEVER,
	BEFORE_ONCE,
	BEFORE_JUST_NOW, /* not to be put again */
};

static bool is_same(const struct recent *recent, const struct mapping_event *m)
{
	return recent->inode == m->inode && recent->generation == m->generation &&
	       recent->major == m->major && recent->minor == m->minor;
}

/* The place of that file, or the one that was not put the longest of those that it may have. */
static struct recent *find_recent(struct mapped_files *files, const struct mapping_event *m)
{
	struct recent *set = &files->recent[m->inode * WAYS % RECENT], *oldest = set;

	for (size_t i = 0; i < WAYS; i++) {
		if (is_same(&set[i], m))
			return &set[i];
		if (set[i].put_us < oldest->put_us)
			oldest = &set[i];
	}
	return oldest;
}

static enum before find_before(struct mapped_files *files, const struct mapping_event *m)
{
	struct recent *r = find_recent(files, m);
	uint64_t now = clock_us(CLOCK_MONOTONIC_COARSE);

	if (!is_same(r, m) || now - r->put_us > FORGET_US) {
		*r = (struct recent){ m->inode, m->generation, m->major, m->minor, now };
		files->n_new_ever++;
		return BEFORE_NEVER;
	}
	if (now - r->put_us < AGAIN_US)
		return BEFORE_JUST_NOW;
	r->put_us = now;
	return BEFORE_ONCE;
}

static void wake(struct mapped_files *files)
{
	uint64_t one = 1;

	(void)!write(files->fd, &one, sizeof(one));
	files->n_new = files->n_known = files->n_passes = 0;
}

void mapped_files_put(struct mapped_files *files, int32_t pid, const struct mapping_event *mapping)
{
	struct mapped_file *file;
	enum before before;

	if (!mapping->executable || mapping->kernel || mapping->inode == 0 ||
	    mapping->n_build_id > 0 || mapping->path[0] != '/')
		return;
	before = find_before(files, mapping);
	if (before == BEFORE_JUST_NOW)
		return;
	file = copy(pid, mapping);
	if (file && append(files, file)) {
		*(before == BEFORE_NEVER ? &files->n_new : &files->n_known) += 1;
	} else {
		free(file);
		atomic_fetch_add_explicit(&files->n_dropped, 1, memory_order_relaxed);
	}
	if (files->n_new + files->n_known >= TELL_OF)
		wake(files);
}

void mapped_files_tell(struct mapped_files *files)
{
	files->n_passes += files->n_known > 0;
	if (files->n_new > 0 || files->n_passes >= PASSES)
		wake(files);
}

static struct mapped_file **place(struct mapped_files *files, uint32_t i)
{
	return &files->waiting[(files->first + i) % MAPPED_FILES_MAX];
}

/* Takes out the @i'th; those before it move up. */
static struct mapped_file *take(struct mapped_files *files, uint32_t i)
{
	struct mapped_file *file = *place(files, i);

	for (; i > 0; i--)
		*place(files, i) = *place(files, i - 1);
	files->first = (files->first + 1) % MAPPED_FILES_MAX;
	files->n--;
	--*share_of(files, file->pid);
	return file;
}

struct mapped_file *mapped_files_take(struct mapped_files *files)
{
	struct mapped_file *file = NULL;
	uint64_t n;

	pthread_mutex_lock(&files->lock);
	if (files->n > 0)
		file = take(files, 0);
	else
		(void)!read(files->fd, &n, sizeof(n));
	pthread_mutex_unlock(&files->lock);
	return file;
}

struct mapped_file *mapped_files_take_file(struct mapped_files *files, uint32_t major,
					   uint32_t minor, uint64_t inode, uint64_t generation)
{
	struct mapped_file *found = NULL;

	pthread_mutex_lock(&files->lock);
	for (uint32_t i = 0; i < files->n && !found; i++) {
		const struct mapped_file *file = *place(files, i);

		if (file->inode == inode && file->generation == generation &&
		    file->major == major && file->minor == minor)
			found = take(files, i);
	}
	pthread_mutex_unlock(&files->lock);
	return found;
}

int mapped_files_fd(const struct mapped_files *files)
{
	return files->fd;
}

uint64_t mapped_files_dropped(const struct mapped_files *files)
{
	return atomic_load_explicit(&files->n_dropped, memory_order_relaxed);
}

uint64_t mapped_files_count_new(const struct mapped_files *files)
{
	return files->n_new_ever;
}
