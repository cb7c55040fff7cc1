-- SPDX-License-Identifier: LGPL-2.1-or-later
--
-- From version 6 to version 7: windows may have names. No row is touched.

-- Names that users gave to windows: to all from "first" to "last". As long as it is here, these are neither merged nor
-- removed.
CREATE TABLE mark (
	name TEXT PRIMARY KEY,
	first INTEGER NOT NULL REFERENCES window,
	last INTEGER NOT NULL REFERENCES window,
	made_us INTEGER NOT NULL,    -- microseconds since 1970, UTC
	uid INTEGER NOT NULL         -- of the user who made it
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 7;
