-- SPDX-License-Identifier: LGPL-2.1-or-later
--
-- From version 6 to version 7: windows may have names, and counts by object, and processes that have gone are counted
-- together in merged windows. The rows of counts get their defaults; only the windows and an index of the processes
-- are touched.

-- Names that users gave to windows: to all from "first" to "last". As long as it is here, these are neither merged nor
-- removed.
CREATE TABLE mark (
	name TEXT PRIMARY KEY,
	first INTEGER NOT NULL REFERENCES window,
	last INTEGER NOT NULL REFERENCES window,
	made_us INTEGER NOT NULL,    -- microseconds since 1970, UTC
	uid INTEGER NOT NULL         -- of the user who made it
) STRICT, WITHOUT ROWID;

-- The counts of each window by object: samples in each object, and samples with it in their stack. The form is that of
-- function_counts with functions of id 0 alone, and the six numbers of a process are 0. Windows of version 6 and before have no row here.
CREATE TABLE object_counts (
	window INTEGER PRIMARY KEY REFERENCES window,
	counts BLOB NOT NULL
) STRICT;

ALTER TABLE process_count ADD COLUMN gone INTEGER NOT NULL DEFAULT 0;

DROP INDEX process_by_pid;
CREATE INDEX process_by_pid ON process (pid, start_ns, comm);

-- No window follows at once upon a sum of windows, which may refer to any row there is.
ALTER TABLE window ADD COLUMN newest INTEGER NOT NULL DEFAULT 0;
UPDATE window SET newest = (SELECT max(id) FROM window)
WHERE NOT EXISTS (SELECT 1 FROM window n WHERE n.id = window.id + 1);

-- Of what came with windows of version 6 this is not known: it goes when they have gone.
ALTER TABLE window_first ADD COLUMN process INTEGER NOT NULL DEFAULT 9223372036854775807;
ALTER TABLE window_first ADD COLUMN string INTEGER NOT NULL DEFAULT 9223372036854775807;
ALTER TABLE window_first ADD COLUMN object INTEGER NOT NULL DEFAULT 9223372036854775807;
ALTER TABLE window_first ADD COLUMN function INTEGER NOT NULL DEFAULT 9223372036854775807;

PRAGMA user_version = 7;
