-- SPDX-License-Identifier: LGPL-2.1-or-later
--
-- From version 6 to version 7: windows may have names, and counts by object. No row is touched.

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

PRAGMA user_version = 7;
