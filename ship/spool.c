/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A file's name has the starts of the first and the last window, the last one's end, the number of
 * windows, the mark, and the id of the first window, so that the order of names is the order of
 * windows. The mark is in the state, too; where that was not written any more, the names know
 * better.
 */
#include "ship/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"
#include "common/util/clock.h"

#define NAME                                                                            \
	"%020" PRIu64 "-%020" PRIu64 "-%020" PRIu64 "-%" PRIu64 "-%" PRId64 "-%" PRIu64 \
	"-%" PRIu64 "-%" PRId64 ".batch"

#define SCAN_MARK "%" SCNu64 "-%" SCNd64 "-%" SCNu64 "-%" SCNu64 "-%" SCNd64
#define SCAN      "%" SCNu64 "-%" SCNu64 "-%" SCNu64 "-" SCAN_MARK

#define N_SCANNED 8
#define STATE     "state"

struct entry {
	char name[SPOOL_NAME_MAX];
	uint64_t bytes, n_windows, start_us;
	struct spool_mark mark;
	bool is_old;
};

struct spool {
	char *directory;
	uint64_t max_bytes, bytes, dropped;
	struct spool_mark mark;
	struct entry *entries;
	size_t n, cap;
	bool stopped;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
};

static char *path_of(const struct spool *spool, const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", spool->directory, name) < 0 ? NULL : path;
}

/* A damaged state is none: windows are sent from now on. */
static void read_state(struct spool *spool)
{
	_cleanup_free_ char *path = path_of(spool, STATE);
	_cleanup_fclose_ FILE *f = path ? fopen(path, "re") : NULL;
	struct spool_mark mark;
	uint64_t dropped;

	if (!f || fscanf(f, "%" SCNd64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &mark.id,
			 &mark.start_us, &mark.length_us, &dropped) != 4)
		return;
	spool->mark = mark;
	spool->dropped = dropped;
}

static int finish_file(FILE *f)
{
	int r = ferror(f) || fflush(f) != 0 || fsync(fileno(f)) < 0 ? -(errno ?: EIO) : 0;

	return fclose(f) != 0 && r >= 0 ? -errno : r;
}

/* What was renamed stays so, if the file system can tell. */
static void sync_directory(const struct spool *spool)
{
	_cleanup_close_ int fd = open(spool->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		(void)fsync(fd);
}

/* Writes it whole or not at all. */
static int write_file(const struct spool *spool, const char *name,
		      void (*write)(FILE *, const void *), const void *what)
{
	_cleanup_free_ char *path = path_of(spool, name), *temporary = path_of(spool, "new");
	FILE *f;
	int r;

	if (!path || !temporary)
		return -ENOMEM;
	f = fopen(temporary, "we");
	if (!f)
		return -errno;
	write(f, what);
	r = finish_file(f);
	if (r >= 0 && rename(temporary, path) < 0)
		r = -errno;
	if (r < 0)
		unlink(temporary);
	else
		sync_directory(spool);
	return r;
}

static void write_state(FILE *f, const void *what)
{
	const struct spool *spool = what;

	fprintf(f, "%" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", spool->mark.id,
		spool->mark.start_us, spool->mark.length_us, spool->dropped);
}

static void write_batch(FILE *f, const void *what)
{
	const struct batch *batch = what;

	for (int i = 0; i < N_BATCH_TABLES; i++) {
		fprintf(f, "%zu\n", batch->sizes[i]);
		fwrite(batch->texts[i], 1, batch->sizes[i], f);
	}
}

/* A batch whose mark is later than the state's was the last one that was written. A new database
 * begins with the first id, and a clock may be put back: then the state is right. */
static int find_mark(struct spool *spool)
{
	bool found = false;

	for (size_t i = 0; i < spool->n; i++) {
		const struct spool_mark *mark = &spool->entries[i].mark;

		if (mark->start_us <= spool->mark.start_us || mark->id <= spool->mark.id)
			continue;
		spool->mark = *mark;
		found = true;
	}
	return found ? write_file(spool, STATE, write_state, spool) : 0;
}

static int add_entry(struct spool *spool, const char *name, uint64_t bytes, bool is_old)
{
	struct entry entry = { .bytes = bytes, .is_old = is_old };
	uint64_t last_us, end_us;
	int64_t first_id;
	int n, r;

	if (strlen(name) >= sizeof(entry.name))
		return 0;
	n = sscanf(name, SCAN, &entry.start_us, &last_us, &end_us, &entry.n_windows, &entry.mark.id,
		   &entry.mark.start_us, &entry.mark.length_us, &first_id);
	if (n < N_SCANNED)
		return 0;
	strcpy(entry.name, name);
	r = ARRAY_RESERVE(&spool->entries, &spool->cap, spool->n + 1);
	if (r < 0)
		return r;
	spool->entries[spool->n++] = entry;
	spool->bytes += bytes;
	return 0;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static int scan(struct spool *spool)
{
	DIR *directory = opendir(spool->directory);
	struct dirent *each;
	struct stat st;
	int r = 0;

	if (!directory)
		return -errno;
	while (r >= 0 && (each = readdir(directory)))
		if (fstatat(dirfd(directory), each->d_name, &st, 0) == 0 && S_ISREG(st.st_mode))
			r = add_entry(spool, each->d_name, (uint64_t)st.st_size, true);
	closedir(directory);
	qsort(spool->entries, spool->n, sizeof(*spool->entries), compare);
	return r;
}

int spool_open(struct spool **ret, const char *directory, uint64_t max_bytes, struct fault *fault)
{
	_cleanup_(spool_freep) struct spool *spool = calloc(1, sizeof(*spool));
	pthread_condattr_t attr;
	int r;

	if (!spool)
		return fault_set(fault, -ENOMEM, "out of memory");
	pthread_mutex_init(&spool->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&spool->changed, &attr);
	pthread_condattr_destroy(&attr);
	spool->max_bytes = max_bytes;
	spool->directory = strdup(directory);
	r = spool->directory ? scan(spool) : -ENOMEM;
	if (r < 0)
		return fault_set(fault, r, "%s: %s: it is made by the unit, or by mkdir", directory,
				 strerror(-r));
	read_state(spool);
	r = find_mark(spool);
	if (r < 0)
		return fault_set(fault, r, "%s: cannot write: %s", directory, strerror(-r));
	*ret = TAKE_PTR(spool);
	return 0;
}

struct spool *spool_free(struct spool *spool)
{
	if (!spool)
		return NULL;
	pthread_mutex_destroy(&spool->mutex);
	pthread_cond_destroy(&spool->changed);
	free(spool->entries);
	free(spool->directory);
	free(spool);
	return NULL;
}

struct spool_mark spool_mark(struct spool *spool)
{
	struct spool_mark mark;

	pthread_mutex_lock(&spool->mutex);
	mark = spool->mark;
	pthread_mutex_unlock(&spool->mutex);
	return mark;
}

struct spool_totals spool_totals(struct spool *spool)
{
	struct spool_totals totals;

	pthread_mutex_lock(&spool->mutex);
	totals = (struct spool_totals){
		.n_batches = spool->n,
		.bytes = spool->bytes,
		.dropped_windows = spool->dropped,
		.oldest_us = spool->n > 0 ? spool->entries[0].start_us : 0,
	};
	pthread_mutex_unlock(&spool->mutex);
	return totals;
}

void spool_count_dropped(struct spool *spool, uint64_t n_windows)
{
	pthread_mutex_lock(&spool->mutex);
	spool->dropped += n_windows;
	pthread_mutex_unlock(&spool->mutex);
}

/* Under the mutex. */
static void drop_entry(struct spool *spool, size_t at)
{
	_cleanup_free_ char *path = path_of(spool, spool->entries[at].name);

	if (path)
		unlink(path);
	spool->bytes -= spool->entries[at].bytes;
	spool->n--;
	memmove(&spool->entries[at], &spool->entries[at + 1],
		(spool->n - at) * sizeof(*spool->entries));
}

static void make_room(struct spool *spool, uint64_t bytes)
{
	while (spool->n > 0 && spool->bytes + bytes > spool->max_bytes) {
		spool->dropped += spool->entries[0].n_windows;
		drop_entry(spool, 0);
	}
}

static struct entry *find_entry(struct spool *spool, const char *name)
{
	for (size_t i = 0; i < spool->n; i++)
		if (strcmp(spool->entries[i].name, name) == 0)
			return &spool->entries[i];
	return NULL;
}

static int put(struct spool *spool, const struct batch *batch, const struct spool_mark *mark)
{
	uint64_t bytes = batch_bytes(batch);
	char name[SPOOL_NAME_MAX];
	struct entry *same;
	int r;

	if (bytes > spool->max_bytes)
		return -ENOSPC;
	snprintf(name, sizeof(name), NAME, batch->first_us, batch->last_us, batch->end_us,
		 batch->n_windows, mark->id, mark->start_us, mark->length_us, batch->first_id);
	same = find_entry(spool, name);
	if (same) { /* the same windows: some of it may have been sent */
		same->is_old = true;
		return 0;
	}
	make_room(spool, bytes);
	r = write_file(spool, name, write_batch, batch);
	return r < 0 ? r : add_entry(spool, name, bytes, false);
}

int spool_put(struct spool *spool, const struct batch *batch, const struct spool_mark *mark,
	      struct fault *fault)
{
	int r;

	pthread_mutex_lock(&spool->mutex);
	r = put(spool, batch, mark);
	if (r < 0)
		spool->dropped += batch->n_windows;
	spool->mark = *mark;
	if (write_file(spool, STATE, write_state, spool) < 0 && r >= 0)
		r = -EIO;
	pthread_cond_broadcast(&spool->changed);
	pthread_mutex_unlock(&spool->mutex);
	return r < 0 ? fault_set(fault, r, "%s: cannot write: %s; %" PRIu64 " windows are dropped",
				 spool->directory, strerror(-r), batch->n_windows) :
		       0;
}

static int read_tables(struct batch *batch, FILE *f)
{
	for (int i = 0; i < N_BATCH_TABLES; i++) {
		int n = fscanf(f, "%zu", &batch->sizes[i]);

		if (i >= BATCH_PPROF && n == EOF) /* of an earlier version */
			continue;
		if (n != 1 || fgetc(f) != '\n' || batch->sizes[i] > UINT32_MAX)
			return -EBADMSG;
		batch->texts[i] = malloc(batch->sizes[i] + 1);
		if (!batch->texts[i])
			return -ENOMEM;
		if (fread(batch->texts[i], 1, batch->sizes[i], f) != batch->sizes[i])
			return -EBADMSG;
	}
	return 0;
}

static int read_batch(const struct spool *spool, const struct entry *entry, struct batch **ret)
{
	_cleanup_(batch_freep) struct batch *batch = calloc(1, sizeof(*batch));
	_cleanup_free_ char *path = path_of(spool, entry->name);
	_cleanup_fclose_ FILE *f = path ? fopen(path, "re") : NULL;
	struct spool_mark mark;
	int r;

	if (!batch || !path)
		return -ENOMEM;
	if (!f)
		return -errno;
	sscanf(entry->name, SCAN, &batch->first_us, &batch->last_us, &batch->end_us,
	       &batch->n_windows, &batch->last_id, &mark.start_us, &mark.length_us,
	       &batch->first_id);
	r = read_tables(batch, f);
	*ret = r < 0 ? NULL : TAKE_PTR(batch);
	return r;
}

/* Under the mutex. A batch that cannot be read is dropped. */
static int take(struct spool *spool, struct spool_batch *ret, struct fault *fault)
{
	const struct entry *entry = &spool->entries[0];
	int r = read_batch(spool, entry, &ret->batch);

	strcpy(ret->name, entry->name);
	ret->is_old = entry->is_old;
	if (r >= 0)
		return 1;
	spool->dropped += entry->n_windows;
	drop_entry(spool, 0);
	return fault_set(fault, r, "%s/%s: %s; its windows are dropped", spool->directory,
			 ret->name, strerror(-r));
}

static bool wait_until(struct spool *spool, uint64_t end_us)
{
	struct timespec end = { (time_t)(end_us / 1000000), (long)(end_us % 1000000) * 1000 };

	return !spool->stopped && pthread_cond_timedwait(&spool->changed, &spool->mutex, &end) == 0;
}

int spool_take(struct spool *spool, struct spool_batch *ret, uint64_t end_us, struct fault *fault)
{
	int r = 0;

	pthread_mutex_lock(&spool->mutex);
	while (spool->n == 0 && wait_until(spool, end_us))
		;
	if (spool->n > 0 && !spool->stopped)
		r = take(spool, ret, fault);
	pthread_mutex_unlock(&spool->mutex);
	return r;
}

void spool_remove(struct spool *spool, const char *name)
{
	pthread_mutex_lock(&spool->mutex);
	for (size_t i = 0; i < spool->n; i++)
		if (strcmp(spool->entries[i].name, name) == 0) {
			drop_entry(spool, i);
			break;
		}
	pthread_mutex_unlock(&spool->mutex);
}

bool spool_has(struct spool *spool, const char *name)
{
	bool found;

	pthread_mutex_lock(&spool->mutex);
	found = find_entry(spool, name) != NULL;
	pthread_mutex_unlock(&spool->mutex);
	return found;
}

bool spool_sleep(struct spool *spool, uint64_t end_us)
{
	bool stopped;

	pthread_mutex_lock(&spool->mutex);
	while (clock_us(CLOCK_MONOTONIC) < end_us && !spool->stopped)
		wait_until(spool, end_us);
	stopped = spool->stopped;
	pthread_mutex_unlock(&spool->mutex);
	return !stopped;
}

void spool_stop(struct spool *spool)
{
	pthread_mutex_lock(&spool->mutex);
	spool->stopped = true;
	pthread_cond_broadcast(&spool->changed);
	pthread_mutex_unlock(&spool->mutex);
}
