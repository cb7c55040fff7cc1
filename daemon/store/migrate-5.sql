-- SPDX-License-Identifier: LGPL-2.1-or-later
--
-- From version 5 to version 6: who may see a process, and which files somebody but root may write. No row is touched:
-- the columns get their defaults. In version 5 the real user of a process was its user, so whether that user may see it
-- is not known: it counts as restricted.

ALTER TABLE process ADD COLUMN restricted INTEGER NOT NULL DEFAULT 1;
ALTER TABLE object ADD COLUMN untrusted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE object ADD COLUMN ctime_ns INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 6;
