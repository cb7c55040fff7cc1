/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/database/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "common/util/cleanup.h"
#include "daemon/database/migrate.h"
#include "daemon/database/schema.h"

#define FILE_MODE 0640 /* it has the processes of all users */

/* What belongs to a database at PATH; the last is the database itself. */
static const char *const parts[] = { "-wal", "-shm", "-journal", "" };

int store_file_lock(const char *path, struct fault *fault)
{
	char lock[PATH_MAX];
	int fd, r;

	if ((size_t)snprintf(lock, sizeof(lock), "%s-lock", path) >= sizeof(lock))
		return fault_set(fault, -ENAMETOOLONG, "%s: the name is too long", path);
	fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, FILE_MODE);
	if (fd < 0)
		return fault_set(fault, -errno, "%s: cannot be opened: %s", lock, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	r = errno == EWOULDBLOCK ?
		    fault_set(fault, -EBUSY, "%s: another branchd is using it", path) :
		    fault_set(fault, -errno, "%s: cannot be locked: %s", lock, strerror(errno));
	close(fd);
	return r;
}

/* *@ret_version is 0 for an empty database. -EBADMSG and @fault: it is not of branchd. */
static int recognise(struct database *database, const char *path, int64_t *ret_version,
		     struct fault *fault)
{
	int64_t id = 0, version = 0, n_tables = 0;
	int r;

	r = database_ask(database, "PRAGMA application_id", &id);
	if (r >= 0)
		r = database_ask(database, "PRAGMA user_version", &version);
	if (r >= 0)
		r = database_ask(database, "SELECT count(*) FROM sqlite_schema", &n_tables);
	if (r < 0)
		return database_explain(database, r, fault);
	if ((id != 0 || version != 0 || n_tables != 0) && id != STORE_APPLICATION_ID)
		return fault_set(fault, -EBADMSG, "%s: not a database of branchd", path);
	*ret_version = version;
	return 0;
}

/* Makes the tables, or converts those of an earlier version. */
static int prepare_tables(struct database *database, const char *path, int64_t version,
			  struct fault *fault)
{
	struct fault why;
	int r;

	if (version == STORE_VERSION)
		return 0;
	if (version != 0 && !store_migrate_is_possible(version))
		return fault_set(fault, -EBADMSG,
				 "%s: version %" PRId64 " of the database cannot be read; this "
				 "branchd needs version %d",
				 path, version, STORE_VERSION);
	r = version == 0 ? store_schema_create(database) : store_migrate(database, version);
	if (r >= 0)
		return 0;
	if (version == 0)
		return database_explain(database, r, fault);
	database_explain(database, r, &why);
	return fault_set(fault, r, "%s; version %" PRId64 " could not be converted", why.text,
			 version);
}

/* Access to the file is given by its mode, which SQLite would make from the umask alone. */
static int make_file(const char *path, struct fault *fault)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);

	if (fd < 0)
		return fault_set(fault, -errno, "%s: cannot be opened: %s", path, strerror(errno));
	close(fd);
	return 0;
}

int store_file_open(struct database **ret, const char *path, int64_t *ret_converted,
		    struct fault *fault)
{
	_cleanup_(database_freep) struct database *database = NULL;
	int64_t version = 0;
	int r = 0;

	if (strcmp(path, ":memory:") != 0)
		r = make_file(path, fault);
	if (r >= 0)
		r = database_open(&database, path, fault);
	if (r >= 0)
		r = recognise(database, path, &version, fault);
	/* before the log is begun, which must not be there before the tables */
	if (r >= 0)
		r = prepare_tables(database, path, version, fault);
	if (r < 0)
		return r;
	r = database_run(database, "PRAGMA journal_mode = WAL;"
				   "PRAGMA synchronous = NORMAL;"
				   "PRAGMA journal_size_limit = 8388608;"
				   "PRAGMA temp_store = MEMORY;"
				   "PRAGMA secure_delete = OFF;"
				   "PRAGMA foreign_keys = OFF;"
				   /* a page number above it is "full" to SQLite, not damage */
				   "PRAGMA max_page_count = 4294967294;"
				   "PRAGMA cell_size_check = ON");
	if (r < 0)
		return database_explain(database, r, fault);
	*ret_converted = version == STORE_VERSION ? 0 : version;
	*ret = TAKE_PTR(database);
	return 0;
}

static bool has_log(const char *path)
{
	char log[PATH_MAX];
	struct stat st;

	return (size_t)snprintf(log, sizeof(log), "%s-wal", path) < sizeof(log) &&
	       stat(log, &st) == 0 && st.st_size > 0;
}

int store_file_open_to_read(struct database **ret, const char *path, struct fault *fault)
{
	_cleanup_(database_freep) struct database *database = NULL;
	int64_t version = 0;
	int r;

	r = database_open_to_read(&database, path, has_log(path), fault);
	if (r >= 0)
		r = recognise(database, path, &version, fault);
	if (r < 0)
		return r;
	if (version != STORE_VERSION)
		return fault_set(fault, -EROFS, "%s: version %" PRId64 " cannot be converted", path,
				 version);
	r = database_run(database, "PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON");
	if (r < 0)
		return database_explain(database, r, fault);
	*ret = TAKE_PTR(database);
	return 0;
}

/* "PATHpart", or "" where that is too long. */
static void part_path(char ret[PATH_MAX], const char *path, const char *part)
{
	if ((size_t)snprintf(ret, PATH_MAX, "%s%s", path, part) >= PATH_MAX)
		*ret = '\0';
}

static bool is_free(const char *path)
{
	char name[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		part_path(name, path, parts[i]);
		if (!*name || faccessat(AT_FDCWD, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return false;
	}
	return true;
}

/* Finds a name that no file has yet. */
static int find_name(const char *path, char *ret, size_t n)
{
	time_t now = time(NULL);
	char stamp[32];
	struct tm tm;

	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", gmtime_r(&now, &tm));
	for (unsigned int i = 1; i < 1000; i++) {
		if ((size_t)snprintf(ret, n, "%s.unusable-%s-%u", path, stamp, i) >= n)
			return -ENAMETOOLONG;
		if (is_free(ret))
			return 0;
	}
	return -EEXIST;
}

/*
 * The database comes last: if this ends half-way, its log must not be left to one made anew.
 */
int store_file_move_away(const char *path, char *ret_path, size_t n_path, struct fault *fault)
{
	char from[PATH_MAX], to[PATH_MAX];
	int r;

	r = find_name(path, ret_path, n_path);
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(parts); i++) {
		part_path(from, path, parts[i]);
		part_path(to, ret_path, parts[i]);
		if (rename(from, to) < 0 && errno != ENOENT)
			r = -errno;
	}
	if (r >= 0)
		return 0;
	*ret_path = '\0';
	return fault_set(fault, r, "%s: cannot be moved out of the way: %s", path, strerror(-r));
}
