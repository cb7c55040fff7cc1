-- SPDX-License-Identifier: LGPL-2.1-or-later
--
-- From version 5 to version 6: who may see a process, and which files somebody but root may write. No row is touched:
-- the columns get their defaults. In version 5 the real user of a process was its user, so whether that user may see it
-- is not known: it counts as restricted.

ALTER TABLE process ADD COLUMN restricted INTEGER NOT NULL DEFAULT 1;
ALTER TABLE object ADD COLUMN untrusted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE object ADD COLUMN ctime_ns INTEGER NOT NULL DEFAULT 0;

-- Windows of version 5 have no rows here: they are removed whole.
--
-- What each user has in a window, so that who has more than a fair share loses rows of their own first when the
-- database is full: the rows of their processes, with the callers of stacks and the newer branches of streams.
CREATE TABLE user_rows (
	window INTEGER NOT NULL REFERENCES window,
	uid INTEGER NOT NULL,        -- -1: unknown, or no process
	rows INTEGER NOT NULL,
	PRIMARY KEY (window, uid)
) STRICT, WITHOUT ROWID;

-- The largest ids before the window was written: no window before it refers to larger ones.
CREATE TABLE window_first (
	window INTEGER PRIMARY KEY REFERENCES window,
	place INTEGER NOT NULL,
	stack INTEGER NOT NULL,
	stream INTEGER NOT NULL
) STRICT;

PRAGMA user_version = 6;
