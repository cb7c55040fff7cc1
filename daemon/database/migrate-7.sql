-- SPDX-License-Identifier: LGPL-2.1-or-later
--
-- From version 7 to version 8: what each process counted is packed. Windows that are there stay as they are, with all in
-- "counts".

ALTER TABLE function_counts ADD COLUMN processes BLOB;
ALTER TABLE object_counts ADD COLUMN processes BLOB;

PRAGMA user_version = 8;
