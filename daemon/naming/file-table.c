/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The hash table keeps its elements in the order in which the files were last seen. */
#include "daemon/naming/file-table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "common/util/clock.h"

#define MAX_FILES       8192     /* remembered */
#define FEW_DESCRIPTORS 1024     /* the usual RLIMIT_NOFILE */
#define USER_SHARE      4        /* a user's files are at most a quarter of the open ones */
#define RETRY_US        10000000 /* until a file that could not be opened is tried again */

struct entry {
	struct named_file file;
	uint64_t seen_us, failed_us;
	int fd;       /* -1: not open */
	bool changed; /* since its build-id was read */
	bool remote;  /* refused for its file system */
	UT_hash_handle hh;
};

_Static_assert(sizeof(struct file_key) == 24, "padding would be compared");

struct file_table {
	struct file_table_settings settings;
	struct entry *entries;
	size_t n_open;
};

static size_t count_descriptors(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (size_t)limit.rlim_cur : FEW_DESCRIPTORS;
}

int file_table_new(struct file_table **ret, const struct file_table_settings *settings)
{
	struct file_table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	table->settings = *settings;
	table->settings.max_open = MIN(settings->max_open, count_descriptors() / 4);
	*ret = table;
	return 0;
}

static void close_file(struct file_table *table, struct entry *entry)
{
	if (entry->fd < 0)
		return;
	close(entry->fd);
	entry->fd = -1;
	entry->file.is_open = false;
	table->n_open--;
}

static void forget(struct file_table *table, struct entry *entry)
{
	close_file(table, entry);
	HASH_DEL(table->entries, entry);
	free(entry);
}

struct file_table *file_table_free(struct file_table *table)
{
	struct entry *entry, *next;

	if (!table)
		return NULL;
	HASH_ITER(hh, table->entries, entry, next)
		forget(table, entry);
	free(table);
	return NULL;
}

static struct entry *find(const struct file_table *table, const struct file_key *key)
{
	struct entry *entry;

	HASH_FIND(hh, table->entries, key, sizeof(*key), entry);
	return entry;
}

/* Appends the entry, as the one seen last. NULL, and it is gone: no memory. */
static struct entry *append(struct file_table *table, struct entry *entry)
{
	entry->seen_us = clock_us(CLOCK_MONOTONIC);
	HASH_ADD(hh, table->entries, file.key, sizeof(entry->file.key), entry);
	if (entry->hh.tbl)
		return entry;
	close_file(table, entry);
	free(entry);
	return NULL;
}

/* The one seen longest ago; a trusted one only if more than half of them are. */
static struct entry *choose_to_forget(const struct file_table *table)
{
	size_t n = 0;

	for (struct entry *e = table->entries; e && n <= MAX_FILES / 2; e = e->hh.next) {
		if (!e->file.identity.trusted)
			return e;
		n++;
	}
	return table->entries;
}

static struct entry *add(struct file_table *table, const struct file_key *key)
{
	struct entry *entry;

	if (HASH_COUNT(table->entries) >= MAX_FILES)
		forget(table, choose_to_forget(table));
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return NULL;
	entry->file.key = *key;
	entry->fd = -1;
	return append(table, entry);
}

static struct entry *see_again(struct file_table *table, struct entry *entry)
{
	HASH_DEL(table->entries, entry);
	return append(table, entry);
}

/* Whose files: trusted ones, those of all users, or of one of them. */
struct owners {
	bool trusted, one;
	uint32_t uid;
};

static bool owns(const struct owners *owners, const struct named_file *file)
{
	return file->identity.trusted == owners->trusted &&
	       (!owners->one || file->identity.uid == owners->uid);
}

/* Closes the file of @owners seen longest ago, but not @keep. */
static void close_oldest(struct file_table *table, const struct owners *owners,
			 const struct entry *keep)
{
	for (struct entry *e = table->entries; e; e = e->hh.next) {
		if (e->fd < 0 || e == keep || !owns(owners, &e->file))
			continue;
		close_file(table, e);
		return;
	}
}

static size_t count_open(const struct file_table *table, const struct owners *owners)
{
	size_t n = 0;

	for (const struct entry *e = table->entries; e; e = e->hh.next)
		n += e->fd >= 0 && owns(owners, &e->file);
	return n;
}

/* Keeps @fd, which it takes over. */
static void keep_open(struct file_table *table, struct entry *entry, int fd)
{
	const struct owners user = { .one = true, .uid = entry->file.identity.uid }, users = {},
			    nobody = { .trusted = true };
	size_t max = table->settings.max_open;

	close_file(table, entry);
	if (max == 0) {
		close(fd);
		return;
	}
	entry->fd = fd;
	entry->file.is_open = true;
	table->n_open++;
	if (!entry->file.identity.trusted && count_open(table, &user) > MAX(max / USER_SHARE, 1u))
		close_oldest(table, &user, entry);
	/* one may have many uids: so those with more than half make room, users or trusted files */
	if (table->n_open > max)
		close_oldest(table, count_open(table, &users) > max / 2 ? &users : &nobody, entry);
}

static bool same_id(const struct build_id *a, const struct build_id *b)
{
	return a->n > 0 && a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

/* Reads the build-id, if that was not done yet and may be done now. */
static void read_id(struct file_table *table, struct entry *entry)
{
	const struct file_table_settings *s = &table->settings;
	struct named_file *file = &entry->file;
	struct build_id id = { 0 };

	if (file->was_read || entry->fd < 0 ||
	    s->read_id(entry->fd, &file->identity, &id, s->userdata) < 0)
		return;
	file->ambiguous |= entry->changed && !same_id(&file->build_id, &id);
	entry->changed = false;
	file->build_id = id;
	file->was_read = true;
}

/* Takes over @fd, of the file as it is now. */
static void set_file(struct file_table *table, struct entry *entry,
		     const struct file_identity *identity, int fd)
{
	struct named_file *file = &entry->file;

	if (file->opened && !file_identity_equal(&file->identity, identity)) {
		entry->changed = true;
		file->was_read = false;
	}
	file->identity = *identity;
	file->opened = true;
	keep_open(table, entry, fd);
}

/* Whether the open file is still as it was. */
static bool is_unchanged(const struct entry *entry)
{
	const struct file_identity *known = &entry->file.identity;
	struct file_identity now;
	struct stat st;

	if (entry->fd < 0 || fstat(entry->fd, &st) < 0)
		return false;
	file_identity_fill(&now, &st, known->trusted);
	return now.ctime_ns == known->ctime_ns && now.n_bytes == known->n_bytes;
}

struct mapped_file *mapped_file_new(int32_t pid, const struct file_key *key, const char *path)
{
	struct mapped_file *file = calloc(1, sizeof(*file) + strlen(path) + 1);

	if (!file)
		return NULL;
	file->pid = pid;
	file->major = key->major;
	file->minor = key->minor;
	file->inode = key->inode;
	file->generation = key->generation;
	memcpy(file->path, path, strlen(path));
	return file;
}

static struct file_key key_of(const struct mapped_file *file)
{
	return (struct file_key){
		.major = file->major,
		.minor = file->minor,
		.inode = file->inode,
		.generation = file->generation,
	};
}

static void open_file(struct file_table *table, struct entry *entry, const struct mapped_file *file)
{
	const struct opener_file wanted = {
		.pid = file->pid,
		.path = file->path,
		.start = file->start,
		.end = file->end,
		.major = file->major,
		.minor = file->minor,
		.inode = file->inode,
	};
	struct file_identity identity;
	int fd = opener_open(table->settings.opener, &wanted, &identity);

	entry->failed_us = 0;
	entry->remote = fd == -EREMOTE;
	if (fd >= 0)
		set_file(table, entry, &identity, fd);
	else if (fd == -EREMOTE || fd == -ETIMEDOUT || fd == -EBUSY)
		entry->failed_us = clock_us(CLOCK_MONOTONIC);
}

void file_table_see(struct file_table *table, const struct mapped_file *file)
{
	struct file_key key = key_of(file);
	struct entry *entry = find(table, &key);

	entry = entry ? see_again(table, entry) : add(table, &key);
	if (!entry)
		return;
	if (is_unchanged(entry))
		return;
	if (entry->failed_us && clock_us(CLOCK_MONOTONIC) < entry->failed_us + RETRY_US)
		return;
	open_file(table, entry, file);
}

void file_table_read(struct file_table *table, const struct file_key *key)
{
	struct entry *entry = find(table, key);

	if (entry)
		read_id(table, entry);
}

const struct named_file *file_table_find(const struct file_table *table, const struct file_key *key)
{
	const struct entry *entry = find(table, key);

	return entry ? &entry->file : NULL;
}

int file_table_open(struct file_table *table, const struct file_key *key)
{
	struct entry *entry = find(table, key);
	int fd;

	if (!entry || entry->fd < 0)
		return -ENOENT;
	fd = fcntl(entry->fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

static bool is_object(const struct named_file *file, const struct profile_object *object)
{
	if (object->n_build_id > 0 &&
	    (file->build_id.n != object->n_build_id ||
	     memcmp(file->build_id.bytes, object->build_id, object->n_build_id) != 0))
		return false;
	if (object->n_build_id > 0 && !object->untrusted)
		return file->identity.trusted;
	return file->key.major == object->major && file->key.minor == object->minor &&
	       file->key.inode == object->inode &&
	       (!object->untrusted || (uint64_t)file->identity.ctime_ns == object->ctime_ns);
}

bool file_table_find_object(const struct file_table *table, const struct profile_object *object,
			    struct file_key *ret)
{
	for (const struct entry *e = table->entries; e; e = e->hh.next) {
		if (e->fd < 0 || !is_object(&e->file, object))
			continue;
		*ret = e->file.key;
		return true;
	}
	return false;
}

size_t file_table_count_remote(const struct file_table *table)
{
	size_t n = 0;

	for (const struct entry *e = table->entries; e; e = e->hh.next)
		n += e->remote;
	return n;
}

void file_table_end_window(struct file_table *table)
{
	for (struct entry *e = table->entries; e; e = e->hh.next)
		e->changed = e->file.ambiguous = false;
}

void file_table_close_old(struct file_table *table, uint64_t age_us)
{
	uint64_t now = clock_us(CLOCK_MONOTONIC), until = now - MIN(now, age_us);

	for (struct entry *e = table->entries; e && e->seen_us <= until; e = e->hh.next)
		close_file(table, e);
}
