-- SPDX-License-Identifier: LGPL-2.1-or-later
--
-- From version 4 to version 5: counters and columns have the field's names. No row of counts is touched, so this
-- takes as long for a large database as for a small one. The transaction, the views and the meanings of the counters
-- are migrate.c's.

ALTER TABLE stack_count RENAME COLUMN folded TO pruned;
ALTER TABLE stream_count RENAME COLUMN folded TO pruned;

-- An error here if a column was not renamed.
SELECT pruned FROM stack_count LIMIT 0;
SELECT pruned FROM stream_count LIMIT 0;

WITH renamed (old, new) AS (VALUES
	('rows_aside', 'rows_skipped_samples'),
	('rows_doubled', 'rows_duplicate'),
	('runs_aside', 'runs_skipped_samples'),
	('runs_beside', 'runs_skipped_rows'),
	('seams_ambiguous', 'stacks_ambiguous'),
	('seams_broken', 'stacks_inconsistent'),
	('seams_made', 'stacks_stitched'),
	('seams_unplaced', 'stacks_unaligned'),
	('stacks_cut', 'stacks_truncated'),
	('stacks_deep', 'stacks_depth_limit'),
	('stacks_folded', 'stacks_pruned'),
	('streams_folded', 'streams_pruned'),
	('streams_none', 'streams_invalid'),
	('tasks_forgotten', 'tasks_evicted'))
UPDATE counter SET name = (SELECT new FROM renamed WHERE old = name)
WHERE name IN (SELECT old FROM renamed);

PRAGMA user_version = 5;
