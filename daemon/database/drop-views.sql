-- SPDX-License-Identifier: LGPL-2.1-or-later
--
-- The first step of every conversion: migrate.c makes the views again at its end. SQLite renames a column in views, too,
-- and a user may have made views and triggers. A user's view of a view has an error until migrate.c has made that again;
-- migrate.c sees to it that such views stay as they are.
DROP VIEW IF EXISTS stream_branches;
DROP VIEW IF EXISTS stack_frames;
DROP VIEW IF EXISTS top_blocks;
DROP VIEW IF EXISTS top_branches;
DROP VIEW IF EXISTS function_totals;
DROP VIEW IF EXISTS function_samples;
DROP VIEW IF EXISTS top_functions;
DROP VIEW IF EXISTS top_processes;
DROP VIEW IF EXISTS places;
DROP VIEW IF EXISTS processes;
DROP VIEW IF EXISTS counters;
DROP VIEW IF EXISTS window_summary;
