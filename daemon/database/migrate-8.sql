-- SPDX-License-Identifier: LGPL-2.1-or-later
--
-- From version 8 to version 9: rows may have variances. Those of windows that are there are taken to be 0, as if
-- all samples had been captured. That holds for windows of each release: none before version 9 estimated stacks.

ALTER TABLE function_counts ADD COLUMN variances INTEGER NOT NULL DEFAULT 0;
ALTER TABLE object_counts ADD COLUMN variances INTEGER NOT NULL DEFAULT 0;

CREATE TABLE variance (
	window INTEGER NOT NULL REFERENCES window,
	counted INTEGER NOT NULL,
	variances BLOB NOT NULL,
	PRIMARY KEY (window, counted)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 9;
