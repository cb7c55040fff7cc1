/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/database/database.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "common/util/cleanup.h"

#define BUSY_MS 200 /* how long to wait for another program's transaction */

struct statement {
	sqlite3_stmt *stmt;
	struct database *database;
	int error; /* a binding's or a column's, for the next step or reset */
	struct statement *next;
};

struct database {
	sqlite3 *db;
	struct statement *statements;
	char *path;
	char error[256]; /* what the first error was about, or "" */
	bool damaged;
	unsigned int n_log_pages;
	atomic_bool stopped;
};

static int errno_of(sqlite3 *db, int code)
{
	int system = sqlite3_system_errno(db);

	switch (code & 0xff) {
	case SQLITE_OK:
		return 0;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL:
		return -EBUSY;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_SCHEMA:
	case SQLITE_CONSTRAINT:
	case SQLITE_MISMATCH:
	case SQLITE_ERROR:  /* these four: the tables are not those that were made */
	case SQLITE_TOOBIG: /* what is written is far smaller */
		return -EBADMSG;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_INTERRUPT:
		return -EINTR;
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return -EACCES;
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		return system > 0 ? -system : -EIO;
	default:
		return -EIO;
	}
}

static int remember(struct database *database, int code)
{
	int r = errno_of(database->db, code);

	if (!*database->error)
		snprintf(database->error, sizeof(database->error), "%s",
			 sqlite3_errmsg(database->db));
	database->damaged |= r == -EBADMSG;
	return r;
}

int database_explain(struct database *database, int r, struct fault *fault)
{
	char about[sizeof(database->error)];

	memcpy(about, database->error, sizeof(about));
	*database->error = '\0';
	switch (r) {
	case -EBUSY:
		return fault_set(fault, r, "%s: another program keeps it locked", database->path);
	case -ENOSPC:
		return fault_set(fault, r, "%s: there is no space left", database->path);
	case -EBADMSG:
		return fault_set(fault, r, "%s: damaged: %s", database->path, about);
	case -ENOMEM:
		return fault_set(fault, r, "%s: out of memory", database->path);
	default:
		return fault_set(fault, r, "%s: %s%s%s", database->path, strerror(-r),
				 *about ? ": " : "", about);
	}
}

int database_damaged(struct database *database, const char *format, ...)
{
	va_list arguments;

	if (!*database->error) {
		va_start(arguments, format);
		vsnprintf(database->error, sizeof(database->error), format, arguments);
		va_end(arguments);
	}
	return -EBADMSG;
}

/* In place of SQLite's own, which would checkpoint. */
static int on_commit(void *userdata, sqlite3 *db, const char *name, int n_pages)
{
	struct database *database = userdata;

	database->n_log_pages = (unsigned int)n_pages;
	return SQLITE_OK;
}

/* @name: of the file, or a URI of it, by @flags. */
static int open_file(struct database **ret, const char *path, const char *name, int flags,
		     struct fault *fault)
{
	_cleanup_(database_freep) struct database *d = calloc(1, sizeof(*d));
	int code;

	if (d)
		d->path = strdup(path);
	if (!d || !d->path)
		return fault_set(fault, -ENOMEM, "%s: out of memory", path);
	/* Nobody asks how much memory it takes, and to know costs a lock at each allocation. */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	code = sqlite3_open_v2(name, &d->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
	if (code != SQLITE_OK)
		return database_explain(d, d->db ? remember(d, code) : -ENOMEM, fault);
	sqlite3_extended_result_codes(d->db, 1);
	sqlite3_busy_timeout(d->db, BUSY_MS);
	/* what is in the file is not to be trusted more than other input */
	sqlite3_db_config(d->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(d->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(d->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_wal_hook(d->db, on_commit, d);
	*ret = TAKE_PTR(d);
	return 0;
}

int database_open(struct database **ret, const char *path, struct fault *fault)
{
	return open_file(ret, path, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, fault);
}

int database_open_to_read(struct database **ret, const char *path, bool has_log,
			  struct fault *fault)
{
	/* each byte of the path may become three */
	static const size_t n = 3 * PATH_MAX;
	_cleanup_free_ char *uri =
		malloc(n + sizeof("file:?immutable=1") + sizeof("readonly_shm=1"));
	char *end = uri;

	if (!uri)
		return fault_set(fault, -ENOMEM, "%s: out of memory", path);
	if (strlen(path) >= PATH_MAX)
		return fault_set(fault, -ENAMETOOLONG, "%s: the name is too long", path);
	end = stpcpy(end, "file:");
	for (const char *c = path; *c; c++)
		end += sprintf(end, strchr("%?#", *c) ? "%%%02x" : "%c", *c);
	strcpy(end, has_log ? "?readonly_shm=1" : "?immutable=1");
	return open_file(ret, path, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, fault);
}

#define STOP_STEPS 10000 /* of SQLite's machine between looks */

bool database_is_stopped(const struct database *database)
{
	return atomic_load(&database->stopped);
}

static int on_steps(void *userdata)
{
	return database_is_stopped(userdata);
}

void database_allow_stop(struct database *database)
{
	sqlite3_progress_handler(database->db, STOP_STEPS, on_steps, database);
}

void database_stop(struct database *database)
{
	atomic_store(&database->stopped, true);
	sqlite3_interrupt(database->db); /* checks of the whole file are one step */
}

int database_tolerate_views(struct database *database, bool tolerate)
{
	int code;

	/* SQLite has no flag for just this; a database that defends itself ignores the second */
	code = sqlite3_db_config(database->db, SQLITE_DBCONFIG_DEFENSIVE, !tolerate, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_db_config(database->db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, tolerate,
					 NULL);
	return code == SQLITE_OK ? 0 : remember(database, code);
}

struct database *database_free(struct database *database)
{
	struct statement *s, *next;

	if (!database)
		return NULL;
	for (s = database->statements; s; s = next) {
		next = s->next;
		sqlite3_finalize(s->stmt);
		free(s);
	}
	/* damage is left as it is, for whoever may make something of it */
	if (database->damaged)
		database_keep_log(database);
	sqlite3_close(database->db);
	free(database->path);
	free(database);
	return NULL;
}

int database_run(struct database *database, const char *sql)
{
	int code = sqlite3_exec(database->db, sql, NULL, NULL, NULL);

	return code == SQLITE_OK ? 0 : remember(database, code);
}

int database_ask(struct database *database, const char *sql, int64_t *ret)
{
	sqlite3_stmt *stmt = NULL;
	int code, r = 0;

	code = sqlite3_prepare_v2(database->db, sql, -1, &stmt, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_step(stmt);
	if (code == SQLITE_ROW)
		*ret = sqlite3_column_int64(stmt, 0);
	else if (code == SQLITE_DONE)
		r = database_damaged(database, "no answer to %s", sql);
	else
		r = remember(database, code);
	sqlite3_finalize(stmt);
	return r;
}

int database_begin_reading(struct database *database)
{
	return database_run(database, "BEGIN");
}

int database_begin_writing(struct database *database)
{
	return database_run(database, "BEGIN IMMEDIATE");
}

int database_commit(struct database *database)
{
	return database_run(database, "COMMIT");
}

void database_roll_back(struct database *database)
{
	if (!sqlite3_get_autocommit(database->db))
		sqlite3_exec(database->db, "ROLLBACK", NULL, NULL, NULL);
}

int database_checkpoint(struct database *database)
{
	int n_pages = 0, n_copied = 0;
	int code = sqlite3_wal_checkpoint_v2(database->db, NULL, SQLITE_CHECKPOINT_PASSIVE,
					     &n_pages, &n_copied);

	if (code == SQLITE_OK)
		return n_copied == n_pages;
	return code == SQLITE_BUSY ? 0 : errno_of(database->db, code);
}

int database_sync_log(struct database *database)
{
	sqlite3_file *log = NULL;
	int code;

	code = sqlite3_file_control(database->db, NULL, SQLITE_FCNTL_JOURNAL_POINTER, &log);
	if (code != SQLITE_OK || !log || !log->pMethods)
		return 0; /* a database in memory has none */
	code = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
	return code == SQLITE_OK ? 0 : -EIO;
}

void database_keep_log(struct database *database)
{
	sqlite3_db_config(database->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

unsigned int database_log_pages(const struct database *database)
{
	return database->n_log_pages;
}

static int prepare(struct database *database, const char *sql, struct statement **ret)
{
	struct statement *s = calloc(1, sizeof(*s));
	int code;

	if (!s)
		return -ENOMEM;
	s->database = database;
	code = sqlite3_prepare_v3(database->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s->stmt, NULL);
	if (code != SQLITE_OK) {
		free(s);
		return remember(database, code);
	}
	s->next = database->statements;
	database->statements = s;
	*ret = s;
	return 0;
}

int database_prepare(struct database *database, const char *const *sql, size_t n,
		     struct statement **ret)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = prepare(database, sql[i], &ret[i]);
	return r;
}

int64_t database_last_id(const struct database *database)
{
	return sqlite3_last_insert_rowid(database->db);
}

/* Keeps the first error for the next step. */
static void note(struct statement *statement, int code)
{
	if (code != SQLITE_OK && statement->error == 0)
		statement->error = remember(statement->database, code);
}

void statement_bind_int(struct statement *statement, int i, int64_t value)
{
	note(statement, sqlite3_bind_int64(statement->stmt, i, value));
}

void statement_bind_ints(struct statement *statement, const int64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		statement_bind_int(statement, (int)i + 1, values[i]);
}

void statement_bind_text(struct statement *statement, int i, const char *text)
{
	if (text)
		note(statement, sqlite3_bind_text64(statement->stmt, i, text, strlen(text),
						    SQLITE_STATIC, SQLITE_UTF8));
	else
		statement_bind_null(statement, i);
}

void statement_bind_blob(struct statement *statement, int i, const void *data, size_t n)
{
	note(statement, sqlite3_bind_blob64(statement->stmt, i, data, n, SQLITE_STATIC));
}

void statement_bind_null(struct statement *statement, int i)
{
	note(statement, sqlite3_bind_null(statement->stmt, i));
}

int statement_reset(struct statement *statement)
{
	int r = statement->error;

	sqlite3_reset(statement->stmt);
	statement->error = 0;
	return r;
}

int statement_step(struct statement *statement)
{
	int code, r;

	if (statement->error < 0)
		return statement_reset(statement);
	code = sqlite3_step(statement->stmt);
	if (code == SQLITE_ROW)
		return 1;
	r = code == SQLITE_DONE ? 0 : remember(statement->database, code);
	sqlite3_reset(statement->stmt);
	return r;
}

int statement_first(struct statement *statement, int64_t *ret, int n)
{
	int r = statement_step(statement);

	if (r <= 0)
		return r;
	for (int i = 0; i < n; i++)
		ret[i] = statement_int(statement, i);
	r = statement_reset(statement);
	return r < 0 ? r : 1;
}

int statement_run(struct statement *statement)
{
	int r;

	do
		r = statement_step(statement);
	while (r > 0);
	return r;
}

int64_t statement_int(const struct statement *statement, int i)
{
	return sqlite3_column_int64(statement->stmt, i);
}

bool statement_is_null(const struct statement *statement, int i)
{
	return sqlite3_column_type(statement->stmt, i) == SQLITE_NULL;
}

const char *statement_text(struct statement *statement, int i)
{
	const char *text;

	if (statement_is_null(statement, i))
		return NULL;
	text = (const char *)sqlite3_column_text(statement->stmt, i);
	if (!text) /* there is no other reason */
		note(statement, SQLITE_NOMEM);
	return text;
}

const void *statement_blob(struct statement *statement, int i, size_t *ret_n)
{
	const void *data = sqlite3_column_blob(statement->stmt, i);

	*ret_n = (size_t)sqlite3_column_bytes(statement->stmt, i);
	return data;
}
