-- SPDX-License-Identifier: LGPL-2.1-or-later
--
-- The views of the database: its numbers with their names, for people.
--
-- All but the first grow with the database: choose windows, as in
--
--     SELECT function, object, sum(samples) FROM top_functions
--     WHERE window > (SELECT max(id) - 30 FROM window) GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 20

CREATE VIEW window_summary AS
SELECT w.id AS window, datetime(w.start_us / 1000000, 'unixepoch') AS start_utc,
	w.length_us / 1e6 AS seconds, w.samples, w.lost, w.mode,
	(SELECT count(*) FROM process_count WHERE window = w.id) AS processes,
	(SELECT count(*) FROM stack_count WHERE window = w.id) AS stacks,
	(SELECT count(*) FROM stream_count WHERE window = w.id) AS streams,
	(SELECT count(*) FROM branch_count WHERE window = w.id) AS branches,
	(SELECT count(*) FROM block_count WHERE window = w.id) AS blocks
FROM window w;

CREATE VIEW counters AS
SELECT c.window, k.name, c.value, k.meaning
FROM counter_count c JOIN counter k ON k.id = c.counter;

CREATE VIEW processes AS
SELECT p.id AS process, p.pid, c.text AS comm, nullif(e.text, '') AS executable,
	nullif(u.text, '') AS unit, p.uid, p.restricted
FROM process p
	JOIN string c ON c.id = p.comm
	JOIN string e ON e.id = p.executable
	JOIN string u ON u.id = p.unit;

-- A place with names: its object, its offset, its function and the offset in that.
CREATE VIEW places AS
SELECT l.id AS place, nullif(o.path, '') AS object, printf('0x%x', l.offset) AS offset,
	nullif(f.name, '') AS function,
	CASE WHEN f.id = 0 THEN NULL ELSE l.offset - f.start END AS into_function
FROM place l JOIN object o ON o.id = l.object JOIN function f ON f.id = l.function;

CREATE VIEW top_processes AS
SELECT c.window, c.samples, c.gone, p.*
FROM process_count c JOIN processes p ON p.process = c.process;

-- Where the samples were taken: the leaves of the stacks.
CREATE VIEW top_functions AS
SELECT c.window, nullif(f.name, '') AS function, nullif(o.path, '') AS object,
	sum(c.samples) AS samples, sum(c.weight) AS weight
FROM stack_count c
	JOIN place l ON l.id = c.place
	JOIN function f ON f.id = l.function
	JOIN object o ON o.id = l.object
GROUP BY c.window, l.function, l.object;

-- Where the samples were taken, and when, by which process: one row per window, process and function. Conditions on any
-- column but "self" are looked at before the samples are, so that a day takes a moment. It has no samples of no process.
CREATE VIEW function_samples AS
SELECT w.id AS window, datetime(w.start_us / 1000000, 'unixepoch', 'localtime') AS start_local,
	datetime(w.start_us / 1000000, 'unixepoch') AS start_utc, w.length_us / 1e6 AS seconds,
	p.pid, m.text AS comm, nullif(u.text, '') AS unit, p.uid,
	nullif(f.name, '') AS function, nullif(o.path, '') AS object, sum(c.samples) AS self
FROM window w
	CROSS JOIN process_count k ON k.window = w.id
	CROSS JOIN process p ON p.id = k.process
	CROSS JOIN string m ON m.id = p.comm
	CROSS JOIN string u ON u.id = p.unit
	CROSS JOIN stack_count c ON c.window = w.id AND c.process = k.process
	CROSS JOIN place l ON l.id = c.place
	CROSS JOIN function f ON f.id = l.function
	CROSS JOIN object o ON o.id = l.object
GROUP BY w.id, p.id, f.id, o.id, datetime(w.start_us / 1000000, 'unixepoch', 'localtime'),
	datetime(w.start_us / 1000000, 'unixepoch'), p.pid, m.text, nullif(u.text, ''), p.uid,
	nullif(f.name, ''), nullif(o.path, '');

-- The same with callers: "total" counts the samples with the function anywhere in their stack, once each. It takes some
-- microseconds a stack, so choose a process or few windows. Functions that are negative objects stand for the parts of
-- objects outside of functions.
CREATE VIEW function_totals AS
SELECT w.id AS window, datetime(w.start_us / 1000000, 'unixepoch', 'localtime') AS start_local,
	datetime(w.start_us / 1000000, 'unixepoch') AS start_utc, w.length_us / 1e6 AS seconds,
	p.pid, m.text AS comm, nullif(u.text, '') AS unit, p.uid,
	nullif(f.name, '') AS function, nullif(o.path, '') AS object,
	sum(iif(j.value = iif(l.function > 0, l.function, -l.object), c.samples, 0)) AS self,
	sum(c.samples) AS total
FROM window w
	CROSS JOIN process_count k ON k.window = w.id
	CROSS JOIN process p ON p.id = k.process
	CROSS JOIN string m ON m.id = p.comm
	CROSS JOIN string u ON u.id = p.unit
	CROSS JOIN stack_count c ON c.window = w.id AND c.process = k.process
	CROSS JOIN place l ON l.id = c.place
	CROSS JOIN json_each((
		WITH RECURSIVE frame (place, caller) AS (
			VALUES (c.place, c.caller)
			UNION ALL
			SELECT s.place, s.parent FROM frame JOIN stack s ON s.id = frame.caller
			WHERE frame.caller > 0
		)
		SELECT json_group_array(DISTINCT iif(q.function > 0, q.function, -q.object))
		FROM frame JOIN place q ON q.id = frame.place)) j
	CROSS JOIN function f ON f.id = max(j.value, 0)
	CROSS JOIN object o ON o.id = iif(j.value > 0, f.object, -j.value)
GROUP BY w.id, p.id, j.value, datetime(w.start_us / 1000000, 'unixepoch', 'localtime'),
	datetime(w.start_us / 1000000, 'unixepoch'), p.pid, m.text, nullif(u.text, ''), p.uid,
	nullif(f.name, ''), nullif(o.path, '');

-- A row without a target, and below a block from 0x1 to 0x0, stands for the rare ones of its object: see stream_count in
-- schema.sql.
CREATE VIEW top_branches AS
SELECT c.window, c.process, a.function AS origin_function, a.object AS origin_object,
	a.offset AS origin_offset, b.function AS target_function, b.object AS target_object,
	b.offset AS target_offset, c.taken, c.mispredicted, c.predicted, c.aborted, c.cycles,
	c.cycles_rows, c.kind
FROM branch_count c JOIN places a ON a.place = c.origin JOIN places b ON b.place = c.target;

CREATE VIEW top_blocks AS
SELECT c.window, c.process, a.function, a.object, a.offset AS first_offset,
	b.offset AS last_offset, c.runs, c.cycles, c.cycles_rows
FROM block_count c JOIN places a ON a.place = c.first JOIN places b ON b.place = c.last;

-- The frames of each stack of callers, innermost first, from "depth" 1 (the sampled leaf would be 0).
-- Choose few stacks.
CREATE VIEW stack_frames AS
WITH RECURSIVE up (stack, depth, parent, place) AS (
	SELECT id, 1, parent, place FROM stack WHERE id > 0
	UNION ALL
	SELECT up.stack, up.depth + 1, s.parent, s.place FROM up JOIN stack s ON s.id = up.parent
	WHERE up.parent > 0
)
SELECT up.stack, up.depth, p.object, p.offset, p.function, p.into_function
FROM up JOIN places p ON p.place = up.place;

-- The branches of each stream, newest first, from "depth" 0. Choose few streams.
CREATE VIEW stream_branches AS
WITH RECURSIVE up (stream, above, parent, origin, target) AS (
	SELECT id, 0, parent, origin, target FROM stream WHERE id > 0
	UNION ALL
	SELECT up.stream, up.above + 1, s.parent, s.origin, s.target
	FROM up JOIN stream s ON s.id = up.parent WHERE up.parent > 0
)
SELECT up.stream, max(up.above) OVER (PARTITION BY up.stream) - up.above AS depth,
	a.object AS origin_object, a.offset AS origin_offset, a.function AS origin_function,
	b.object AS target_object, b.offset AS target_offset, b.function AS target_function
FROM up JOIN places a ON a.place = up.origin JOIN places b ON b.place = up.target;
