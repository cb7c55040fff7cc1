-- SPDX-License-Identifier: LGPL-2.1-or-later
--
-- The tables that branchd-ship fills, in ClickHouse 18.16 or later. On each server:
--
--     clickhouse-client --multiquery < /usr/share/branchd/ship-schema.sql
--
-- With several servers, each host sends to one of them (Url= of ship.conf); ship-cluster.sql then makes one table of all.
--
-- A batch may come twice: the network failed before the answer came. branchd-ship asks first whether the server has
-- it; and each table has a key for each row, so that a second copy replaces the first one. Merges do that in time,
-- FINAL does it at once. The views without "_rows" read with FINAL: ask these.
--
-- All counts of a window are in rows that have its host, day, start ("window") and number ("id": clocks may be put back); "n" numbers
-- the rows of a window. "day" is the day in UTC on which the window starts. A place in code is an "id" of the table "names"
-- ("from_id", "function_id", ...), and an offset from there.
--
-- A window is a sum of ten minutes (SumSec= of ship.conf), and its processes of one unit and name are one. It has all of its functions, but
-- rare stacks, branches, blocks and streams only as rows in which "other" is 1, or as rows of their callers: all sums
-- are those of the host. Tables are sorted by what a row is, and then by time, so that the rows of a host's day that differ in their
-- counts alone are neighbours: they take some ten bytes each.

CREATE DATABASE IF NOT EXISTS branchd;

-- A span of time of one host. "samples" and "lost" are of all processes.
CREATE TABLE IF NOT EXISTS branchd.windows_rows (
    host String,
    day Date,
    window UInt64,         -- its start in microseconds since 1970
    id UInt64,             -- its number on that host; of a sum of several (SumSec= of ship.conf) that of the first,
    n UInt32,              -- 0
    time DateTime,         -- its start, UTC
    last_id UInt64,        -- ... and of the last one: for branchctl -H HOST top ID..LAST
    length_us UInt64,
    mode String,
    event String,
    cpu String,
    samples UInt64,
    lost UInt64
) ENGINE = ReplacingMergeTree() PARTITION BY day ORDER BY (host, window, id, n);

-- Functions, by the unit that ran them.
CREATE TABLE IF NOT EXISTS branchd.functions_rows (
    host String,
    day Date,
    window UInt64,
    id UInt64,
    n UInt32,
    time DateTime,
    unit String,           -- '' if none is known
    build_id String,       -- hexadecimal; '' if none is known
    object String,         -- its path; '' outside of all objects
    symbol String,         -- '' if it has none
    self UInt64,           -- samples in it
    total UInt64           -- samples in it, or in what it called
) ENGINE = ReplacingMergeTree() PARTITION BY day ORDER BY (host, unit, object, symbol, build_id, window, id, n);

-- Call stacks. Places of callers are those of their calls.
CREATE TABLE IF NOT EXISTS branchd.stacks_rows (
    host String,
    day Date,
    window UInt64,
    id UInt64,
    n UInt32,
    time DateTime,
    unit String,
    comm String,
    ids Array(UInt64),     -- functions, the innermost first
    offsets Array(UInt64), -- in these functions
    samples UInt64,
    weight UInt64          -- the sum of the periods of these samples
) ENGINE = ReplacingMergeTree() PARTITION BY day ORDER BY (host, unit, comm, ids, offsets, window, id, n);

-- Branches from one instruction to another.
CREATE TABLE IF NOT EXISTS branchd.branches_rows (
    host String,
    day Date,
    window UInt64,
    id UInt64,
    n UInt32,
    time DateTime,
    unit String,
    from_id UInt64,
    from_offset UInt64,
    to_id UInt64,
    to_offset UInt64,
    taken UInt64,
    mispredicted UInt64,
    predicted UInt64,      -- the rest of taken: not known
    aborted UInt64,
    cycles UInt64,
    cycles_rows UInt64,    -- branch records with a number of cycles
    other UInt8            -- 1: all branches that are too rare for a row; ids are 0
) ENGINE = ReplacingMergeTree() PARTITION BY day ORDER BY (host, unit, from_id, from_offset, to_id, to_offset, window, id, n);

-- Basic blocks.
CREATE TABLE IF NOT EXISTS branchd.blocks_rows (
    host String,
    day Date,
    window UInt64,
    id UInt64,
    n UInt32,
    time DateTime,
    unit String,
    function_id UInt64,
    start_offset UInt64,
    bytes UInt64,          -- from its first byte to the first byte of its last instruction, a branch
    runs UInt64,
    cycles UInt64,
    cycles_rows UInt64,
    other UInt8            -- 1: all blocks that are too rare for a row; id is 0
) ENGINE = ReplacingMergeTree() PARTITION BY day ORDER BY (host, unit, function_id, start_offset, bytes, window, id, n);

-- Streams: the branches that led to samples, the oldest first.
CREATE TABLE IF NOT EXISTS branchd.streams_rows (
    host String,
    day Date,
    window UInt64,
    id UInt64,
    n UInt32,
    time DateTime,
    unit String,
    from_ids Array(UInt64),
    from_offsets Array(UInt64),
    to_ids Array(UInt64),
    to_offsets Array(UInt64),
    hits UInt64,
    other UInt8            -- 1: all streams that are too rare for a row
) ENGINE = ReplacingMergeTree() PARTITION BY day ORDER BY (host, unit, from_ids, from_offsets, window, id, n);

-- What ids mean. An id is a hash of the build-id and the start, so that it is the same on all hosts and days. Ids in objects
-- without a build-id, or which somebody but root may write, are of one host and one file. A host sends a name once an hour.
CREATE TABLE IF NOT EXISTS branchd.names_rows (
    day Date,
    id UInt64,
    build_id String,
    object String,
    symbol String,         -- '' if no function is known there: all of the object
    start UInt64,          -- of the function in its object
    size UInt64
) ENGINE = ReplacingMergeTree() PARTITION BY day ORDER BY id;

-- Each row once.
CREATE VIEW IF NOT EXISTS branchd.windows AS SELECT * FROM branchd.windows_rows FINAL;
CREATE VIEW IF NOT EXISTS branchd.functions AS SELECT * FROM branchd.functions_rows FINAL;
CREATE VIEW IF NOT EXISTS branchd.stacks AS SELECT * FROM branchd.stacks_rows FINAL;
CREATE VIEW IF NOT EXISTS branchd.branches AS SELECT * FROM branchd.branches_rows FINAL;
CREATE VIEW IF NOT EXISTS branchd.blocks AS SELECT * FROM branchd.blocks_rows FINAL;
CREATE VIEW IF NOT EXISTS branchd.streams AS SELECT * FROM branchd.streams_rows FINAL;
CREATE VIEW IF NOT EXISTS branchd.names AS SELECT * FROM branchd.names_rows FINAL;

-- Sums of functions for each minute, hour and day: add up self and total, also of rows with one key. They count what is
-- inserted. branchd-ship inserts a batch again only when the server does not have it; if a server dies between writing
-- a batch and these sums, they lack it. Then make them anew from the table "functions".
CREATE MATERIALIZED VIEW IF NOT EXISTS branchd.functions_minute
ENGINE = SummingMergeTree((self, total)) PARTITION BY day ORDER BY (toStartOfHour(minute), host, unit, object, symbol, build_id, minute, day)
AS SELECT day, toStartOfMinute(time) AS minute, host, unit, build_id, object, symbol, sum(self) AS self, sum(total) AS total
FROM branchd.functions_rows GROUP BY day, minute, host, unit, build_id, object, symbol;

CREATE MATERIALIZED VIEW IF NOT EXISTS branchd.functions_hour
ENGINE = SummingMergeTree((self, total)) PARTITION BY day ORDER BY (hour, host, unit, build_id, object, symbol, day)
AS SELECT day, toStartOfHour(time) AS hour, host, unit, build_id, object, symbol, sum(self) AS self, sum(total) AS total
FROM branchd.functions_rows GROUP BY day, hour, host, unit, build_id, object, symbol;

CREATE MATERIALIZED VIEW IF NOT EXISTS branchd.functions_day
ENGINE = SummingMergeTree((self, total)) PARTITION BY day ORDER BY (host, unit, build_id, object, symbol, day)
AS SELECT day, host, unit, build_id, object, symbol, sum(self) AS self, sum(total) AS total
FROM branchd.functions_rows GROUP BY day, host, unit, build_id, object, symbol;

-- The same of all units, for hours and days: the tables that questions about many hosts read. "function" stands for object and symbol.
CREATE MATERIALIZED VIEW IF NOT EXISTS branchd.code_hour
ENGINE = SummingMergeTree((self, total)) PARTITION BY day ORDER BY (hour, host, function, build_id, day)
AS SELECT day, toStartOfHour(time) AS hour, host, cityHash64(object, symbol) AS function, build_id, object, symbol,
    sum(self) AS self, sum(total) AS total
FROM branchd.functions_rows GROUP BY day, hour, host, build_id, object, symbol;

CREATE MATERIALIZED VIEW IF NOT EXISTS branchd.code_day
ENGINE = SummingMergeTree((self, total)) PARTITION BY day ORDER BY (host, function, build_id, day)
AS SELECT day, host, cityHash64(object, symbol) AS function, build_id, object, symbol, sum(self) AS self, sum(total) AS total
FROM branchd.functions_rows GROUP BY day, host, build_id, object, symbol;

-- Retention. Servers since 19.6 forget by themselves:
--     ALTER TABLE branchd.stacks_rows MODIFY TTL day + INTERVAL 30 DAY;
-- and so for each table above. Older ones are told so, once a day:
--     ALTER TABLE branchd.stacks_rows DROP PARTITION '2026-11-20';
