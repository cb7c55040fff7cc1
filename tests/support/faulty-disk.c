/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/faulty-disk.h"

#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "tests/support/random.h"

#define SECTOR    512
#define MAX_FILES 8

/* Ends the test. */
#define MUST(condition)                                                            \
	do {                                                                       \
		if (!(condition)) {                                                \
			fprintf(stderr, "%s:%d: " #condition, __FILE__, __LINE__); \
			abort();                                                   \
		}                                                                  \
	} while (0)

/* A write, or a truncation to @offset. */
struct change {
	char *data;
	size_t n, offset;
	bool truncates;
};

/* A file as the disk has it, and what it was told since its last sync. */
struct disk_file {
	char path[512];
	char *data;
	size_t n;
	struct change *changes;
	size_t n_changes;
};

/* What SQLite has open. */
struct open_file {
	sqlite3_file base;
	struct disk_file *disk; /* NULL: not a file that is kept */
	sqlite3_file *real;
};

static sqlite3_vfs vfs;
static sqlite3_vfs *real_vfs;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct disk_file files[MAX_FILES];
static size_t n_files;
static uint64_t n_left; /* writes until power fails; 0: it never does */
static int error;       /* of the one write that then fails; SQLITE_OK: power does */
static bool failed;     /* power has */
static uint64_t n_lost, n_torn;
static uint64_t n_reads_left, n_reads_refused;

static void resize(struct disk_file *file, size_t n)
{
	file->data = realloc(file->data, n + 1);
	MUST(file->data);
	if (n > file->n)
		memset(file->data + file->n, 0, n - file->n);
	file->n = n;
}

/* The sectors of the change that @random chooses, or all of them. */
static void apply(struct disk_file *file, const struct change *change, uint64_t *random)
{
	if (change->truncates) {
		resize(file, change->offset);
		return;
	}
	if (change->offset + change->n > file->n)
		resize(file, change->offset + change->n);
	for (size_t i = 0; i < change->n; i += SECTOR) {
		size_t n = change->n - i < SECTOR ? change->n - i : SECTOR;

		if (!random || random_below(random, 2))
			memcpy(file->data + change->offset + i, change->data + i, n);
	}
}

static void forget_changes(struct disk_file *file)
{
	for (size_t i = 0; i < file->n_changes; i++)
		free(file->changes[i].data);
	free(file->changes);
	file->changes = NULL;
	file->n_changes = 0;
}

static void forget_file(struct disk_file *file)
{
	forget_changes(file);
	free(file->data);
	*file = files[--n_files];
}

static struct disk_file *find(const char *path)
{
	for (size_t i = 0; i < n_files; i++)
		if (strcmp(files[i].path, path) == 0)
			return &files[i];
	return NULL;
}

static struct disk_file *find_or_add(const char *path)
{
	struct disk_file *file = find(path);
	int fd;
	struct stat st;

	if (file)
		return file;
	MUST(n_files < MAX_FILES && strlen(path) < sizeof(file->path));
	file = &files[n_files++];
	*file = (struct disk_file){};
	strcpy(file->path, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0) {
		resize(file, (size_t)st.st_size);
		MUST(read(fd, file->data, file->n) == (ssize_t)file->n);
	}
	if (fd >= 0)
		close(fd);
	return file;
}

static void keep_change(struct disk_file *file, struct change change, const void *data)
{
	change.data = malloc(change.n + 1);
	file->changes = realloc(file->changes, (file->n_changes + 1) * sizeof(change));
	MUST(change.data && file->changes);
	if (change.n > 0)
		memcpy(change.data, data, change.n);
	file->changes[file->n_changes++] = change;
}

/* SQLITE_OK: the disk takes it. The change during which power fails is one that nobody synced. */
static int add_change(struct disk_file *file, struct change change, const void *data)
{
	bool is_last;
	int code = SQLITE_OK;

	pthread_mutex_lock(&mutex);
	is_last = file && !failed && n_left > 0 && --n_left == 0;
	if (is_last && error != SQLITE_OK) {
		code = error;
	} else if (file && !failed) {
		keep_change(file, change, data);
		failed = is_last;
	}
	if (failed)
		code = SQLITE_IOERR_WRITE;
	pthread_mutex_unlock(&mutex);
	return code;
}

static sqlite3_file *real_of(sqlite3_file *file)
{
	return ((struct open_file *)file)->real;
}

static struct disk_file *disk_of(sqlite3_file *file)
{
	return ((struct open_file *)file)->disk;
}

static int on_close(sqlite3_file *file)
{
	struct open_file *f = (struct open_file *)file;
	int code = f->real->pMethods ? f->real->pMethods->xClose(f->real) : SQLITE_OK;

	free(f->real);
	return code;
}

static int on_read(sqlite3_file *file, void *data, int n, sqlite3_int64 offset)
{
	bool refused;

	pthread_mutex_lock(&mutex);
	refused = n_reads_left > 0 && --n_reads_left == 0;
	n_reads_refused += refused;
	pthread_mutex_unlock(&mutex);
	if (refused)
		return SQLITE_IOERR_READ;
	return real_of(file)->pMethods->xRead(real_of(file), data, n, offset);
}

static int on_write(sqlite3_file *file, const void *data, int n, sqlite3_int64 offset)
{
	struct change change = { .n = (size_t)n, .offset = (size_t)offset };

	int code = add_change(disk_of(file), change, data);

	return code != SQLITE_OK ? code :
				   real_of(file)->pMethods->xWrite(real_of(file), data, n, offset);
}

static int on_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	struct change change = { .offset = (size_t)size, .truncates = true };

	int code = add_change(disk_of(file), change, NULL);

	return code != SQLITE_OK ? code : real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int on_sync(sqlite3_file *file, int flags)
{
	struct disk_file *disk = disk_of(file);
	bool works;

	pthread_mutex_lock(&mutex);
	works = !failed;
	if (works && disk) {
		for (size_t i = 0; i < disk->n_changes; i++)
			apply(disk, &disk->changes[i], NULL);
		forget_changes(disk);
	}
	pthread_mutex_unlock(&mutex);
	return works ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

static int on_file_size(sqlite3_file *file, sqlite3_int64 *ret)
{
	return real_of(file)->pMethods->xFileSize(real_of(file), ret);
}

static int on_lock(sqlite3_file *file, int level)
{
	return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int on_unlock(sqlite3_file *file, int level)
{
	return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int on_check_lock(sqlite3_file *file, int *ret)
{
	return real_of(file)->pMethods->xCheckReservedLock(real_of(file), ret);
}

static int on_control(sqlite3_file *file, int what, void *data)
{
	/* what is allocated in advance would be a write that is not seen */
	if (what == SQLITE_FCNTL_CHUNK_SIZE || what == SQLITE_FCNTL_SIZE_HINT)
		return SQLITE_OK;
	return real_of(file)->pMethods->xFileControl(real_of(file), what, data);
}

static int on_sector_size(sqlite3_file *file)
{
	return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int on_characteristics(sqlite3_file *file)
{
	return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static int on_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **ret)
{
	return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, ret);
}

static int on_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
	return real_of(file)->pMethods->xShmLock(real_of(file), offset, n, flags);
}

static void on_shm_barrier(sqlite3_file *file)
{
	real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int on_shm_unmap(sqlite3_file *file, int remove)
{
	return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
}

static const sqlite3_io_methods methods = {
	.iVersion = 2, /* without mapped files */
	.xClose = on_close,
	.xRead = on_read,
	.xWrite = on_write,
	.xTruncate = on_truncate,
	.xSync = on_sync,
	.xFileSize = on_file_size,
	.xLock = on_lock,
	.xUnlock = on_unlock,
	.xCheckReservedLock = on_check_lock,
	.xFileControl = on_control,
	.xSectorSize = on_sector_size,
	.xDeviceCharacteristics = on_characteristics,
	.xShmMap = on_shm_map,
	.xShmLock = on_shm_lock,
	.xShmBarrier = on_shm_barrier,
	.xShmUnmap = on_shm_unmap,
};

static int on_open(sqlite3_vfs *v, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	const int kept = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;
	struct open_file *f = (struct open_file *)file;
	int code;

	f->base.pMethods = &methods;
	f->disk = NULL;
	f->real = calloc(1, (size_t)real_vfs->szOsFile);
	MUST(f->real);
	pthread_mutex_lock(&mutex);
	if (name && flags & kept)
		f->disk = find_or_add(name);
	pthread_mutex_unlock(&mutex);
	code = real_vfs->xOpen(real_vfs, name, f->real, flags, ret_flags);
	if (code != SQLITE_OK) {
		free(f->real);
		f->base.pMethods = NULL;
	}
	return code;
}

static int on_delete(sqlite3_vfs *v, const char *name, int sync_folder)
{
	struct disk_file *file;
	bool works;

	pthread_mutex_lock(&mutex);
	works = !failed;
	file = find(name);
	if (works && file) { /* one that is made anew has nothing in it */
		forget_changes(file);
		file->n = 0;
	}
	pthread_mutex_unlock(&mutex);
	return works ? real_vfs->xDelete(real_vfs, name, sync_folder) : SQLITE_IOERR_DELETE;
}

void faulty_disk_register(void)
{
	real_vfs = sqlite3_vfs_find(NULL);
	vfs = *real_vfs;
	vfs.zName = "power";
	vfs.szOsFile = sizeof(struct open_file);
	vfs.xOpen = on_open;
	vfs.xDelete = on_delete;
	MUST(sqlite3_vfs_register(&vfs, 1) == SQLITE_OK);
}

void faulty_disk_end(void)
{
	while (n_files > 0)
		forget_file(&files[0]);
	failed = false;
	error = SQLITE_OK;
	n_left = 0;
}

void faulty_disk_begin(uint64_t n_writes)
{
	faulty_disk_end();
	n_left = n_writes;
}

void faulty_disk_refuse(uint64_t n_writes, int code)
{
	pthread_mutex_lock(&mutex);
	n_left = n_writes;
	error = code;
	pthread_mutex_unlock(&mutex);
}

void faulty_disk_refuse_read(uint64_t n_reads)
{
	pthread_mutex_lock(&mutex);
	n_reads_left = n_reads;
	pthread_mutex_unlock(&mutex);
}

uint64_t faulty_disk_count_refused_reads(void)
{
	uint64_t ret;

	pthread_mutex_lock(&mutex);
	ret = n_reads_refused;
	pthread_mutex_unlock(&mutex);
	return ret;
}

bool faulty_disk_has_refused(void)
{
	bool ret;

	pthread_mutex_lock(&mutex);
	ret = error != SQLITE_OK && n_left == 0;
	pthread_mutex_unlock(&mutex);
	return ret;
}

bool faulty_disk_has_failed(void)
{
	bool ret;

	pthread_mutex_lock(&mutex);
	ret = failed;
	pthread_mutex_unlock(&mutex);
	return ret;
}

/* Of @n_kinds: 1: all is lost; 4: half of it is there. */
static void lose_changes(struct disk_file *file, uint64_t n_kinds, uint64_t *random)
{
	for (size_t i = 0; i < file->n_changes; i++) {
		switch (random_below(random, n_kinds)) {
		case 0:
			n_lost++;
			break;
		case 1:
			n_lost++;
			n_torn++;
			apply(file, &file->changes[i], random);
			break;
		default:
			apply(file, &file->changes[i], NULL);
		}
	}
}

static void write_back(const struct disk_file *file)
{
	char path[600];
	int fd;

	snprintf(path, sizeof(path), "%s-shm", file->path);
	unlink(path);
	if (access(file->path, F_OK) < 0)
		return; /* it was removed */
	fd = open(file->path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	MUST(fd >= 0 && write(fd, file->data, file->n) == (ssize_t)file->n);
	close(fd);
}

void faulty_disk_lose(uint64_t *random)
{
	for (size_t i = 0; i < n_files; i++) {
		lose_changes(&files[i], 1 + random_below(random, 8), random);
		write_back(&files[i]);
	}
	faulty_disk_end();
}

uint64_t faulty_disk_count_lost(uint64_t *ret_torn)
{
	*ret_torn = n_torn;
	return n_lost;
}
