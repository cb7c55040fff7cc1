/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A database: SQLite behind statements that are prepared once, and errors as errnos. No other
 * module uses SQLite.
 *
 * The database remembers the text of its first error until database_explain(); so the functions in
 * between only pass the errno on:
 *   -EBUSY     another program has it locked
 *   -ENOSPC    the disk, or the database, is full
 *   -EBADMSG   it is damaged
 *   -ENOMEM, -EIO, -EROFS, -EACCES and other errnos of the system
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/fault.h"
#include "common/util/macro.h"

struct database;
struct statement;

/* Makes an empty file if there is none; ":memory:" is no file. */
int database_open(struct database **ret, const char *path, struct fault *fault);

/*
 * Where nothing can be written beside it, either. @has_log: the log has transactions, of which what
 * is in memory is made; else the file is read as it is, without locks: its process has no other
 * connection to it then, as closing this one ends the locks of that.
 */
int database_open_to_read(struct database **ret, const char *path, bool has_log,
			  struct fault *fault);
struct database *database_free(struct database *database);
DEFINE_CLEANUP(struct database *, database_free);

/*
 * With @tolerate, ALTER TABLE passes over views and triggers that have an error, as those that a
 * user made may have. It also opens the schema to any SQL: only for statements of our own.
 */
int database_tolerate_views(struct database *database, bool tolerate);

/*
 * For long statements: they end with -EINTR once the other function was called, in any thread, as
 * do long ones after that.
 */
void database_allow_stop(struct database *database);
void database_stop(struct database *database);
bool database_is_stopped(const struct database *database);

/* Runs SQL and ignores its rows; or reads the first column of the first row into *@ret. */
int database_run(struct database *database, const char *sql);
int database_ask(struct database *database, const char *sql, int64_t *ret);

int database_begin_reading(struct database *database);
int database_begin_writing(struct database *database);
int database_commit(struct database *database);
/* Does nothing outside of a transaction. */
void database_roll_back(struct database *database);

/*
 * Copies of the write-ahead log what no reader keeps from it: 1: all; 0: not all, or another is
 * about it; or -errno. It waits for the disk, but nobody waits for it. No database does so by
 * itself.
 */
int database_checkpoint(struct database *database);
/*
 * Waits until the disk has the log, so that a power failure does not take what was committed. 0 or
 * -EIO.
 */
int database_sync_log(struct database *database);
/* Closing it, even last of all, leaves the log as it is. */
void database_keep_log(struct database *database);
/* Of the log, as of the last commit of this connection. */
unsigned int database_log_pages(const struct database *database);

/* Fills @fault with the error that led to @r, "PATH: ...", and forgets it; returns @r. */
int database_explain(struct database *database, int r, struct fault *fault);
/* The data read is invalid: remembers the text and returns -EBADMSG. */
int database_damaged(struct database *database, const char *format, ...) _printf_(2, 3);

/* Prepares the @n statements of @sql, which belong to the database. */
int database_prepare(struct database *database, const char *const *sql, size_t n,
		     struct statement **ret);
int64_t database_last_id(const struct database *database);

/*
 * Parameters count from 1; they are kept until bound anew. Text and blobs are borrowed until the
 * statement has been stepped through or reset. NULL text is SQL's NULL. An error comes out of the
 * next step.
 */
void statement_bind_int(struct statement *statement, int i, int64_t value);
void statement_bind_text(struct statement *statement, int i, const char *text);
void statement_bind_blob(struct statement *statement, int i, const void *data, size_t n);
void statement_bind_null(struct statement *statement, int i);
void statement_bind_ints(struct statement *statement, const int64_t *values, size_t n);

/* All parameters, as numbers. */
#define STATEMENT_BIND(statement, ...)                                   \
	statement_bind_ints(statement, (const int64_t[]){ __VA_ARGS__ }, \
			    sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

/* 1: a row; 0: no more, and the statement is reset; or -errno, likewise. */
int statement_step(struct statement *statement);
/* Leaves the rest of the rows; 0, or the errno of reading a column. */
int statement_reset(struct statement *statement);
/* The first @n columns of the first row. 1; 0: there is none; or -errno. */
int statement_first(struct statement *statement, int64_t *ret, int n);
/* Steps through. 0 or -errno. */
int statement_run(struct statement *statement);

/* Columns count from 0; what is borrowed is valid until the next step or reset. */
int64_t statement_int(const struct statement *statement, int i);
bool statement_is_null(const struct statement *statement, int i);
const char *statement_text(struct statement *statement, int i); /* NULL of NULL */
const void *statement_blob(struct statement *statement, int i, size_t *ret_n);
