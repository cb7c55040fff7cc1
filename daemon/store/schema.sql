-- SPDX-License-Identifier: LGPL-2.1-or-later
--
-- The database of branchd: windows of counts, and what they count.
--
-- Anyone who may read the file may query it while the daemon writes:
--
--     sqlite3 -readonly /var/lib/branchd/branchd.db 'SELECT * FROM window_summary'
--
-- While it does not run, who may not write beside the file says file:/var/lib/branchd/branchd.db?immutable=1
-- instead of the path.
--
-- The views (views.sql) are for that; start with those. Leave writing to the daemon, and do not keep a
-- transaction open for long: what is written meanwhile cannot leave the write-ahead log.
--
-- Two kinds of tables. What is named over and over, from strings to whole call stacks, is kept once and
-- has a number ("id", from 1; where there can be none, a row 0 stands for it). A window is rows of such
-- numbers with counts. So a window costs some 25 bytes for each thing counted in it.
--
-- Numbers are unsigned 64-bit ones stored in SQLite's signed ones: from 2^63 on they read as negative.
-- printf('0x%x', n) and printf('%u', n) show them right. Text is whatever bytes the system had.
--
-- REFERENCES say what refers to what, and PRAGMA foreign_key_check finds nothing wrong; they are not
-- enforced while writing, which would cost more than the writing itself.
--
-- "seen" says when a row was last known to be in use: each row that window W refers to, directly or by
-- other rows, has seen >= W's horizon, and none has a larger one than what it refers to itself. It is
-- brought up to date only when the horizon, which lags behind, has passed it: so a window that is like
-- the one before changes next to nothing, and still, when the oldest window is removed, everything with
-- seen < the horizon of the oldest left is in use no more.

PRAGMA application_id = 0x62726e64; -- "brnd"
PRAGMA user_version = 5; -- another one means: other tables than these, or another meaning

-- What windows refer to -------------------------------------------------------------------------------

CREATE TABLE string (
	id INTEGER PRIMARY KEY,
	text TEXT NOT NULL,          -- row 0, not known, is another than an empty one
	seen INTEGER NOT NULL
) STRICT;
CREATE INDEX string_by_text ON string (text);

-- What was measured, with what, and where.
CREATE TABLE source (
	id INTEGER PRIMARY KEY,
	mode INTEGER NOT NULL REFERENCES string,
	event INTEGER NOT NULL REFERENCES string,
	hostname INTEGER NOT NULL REFERENCES string,
	os_release INTEGER NOT NULL REFERENCES string,
	cpu INTEGER NOT NULL REFERENCES string,
	n_cpus INTEGER NOT NULL,
	depth INTEGER NOT NULL, -- branch rows the hardware can hold
	seen INTEGER NOT NULL
) STRICT;

-- A process between two execs or changes of its name. Row 0: samples of no process.
CREATE TABLE process (
	id INTEGER PRIMARY KEY,
	pid INTEGER NOT NULL,        -- -1: of no process
	start_ns INTEGER NOT NULL,   -- by the clock of samples; 0: before sampling began
	comm INTEGER NOT NULL REFERENCES string,
	executable INTEGER NOT NULL REFERENCES string,
	unit INTEGER NOT NULL REFERENCES string, -- the systemd unit
	uid INTEGER,                 -- NULL where it is not known
	seen INTEGER NOT NULL
) STRICT;
CREATE INDEX process_by_pid ON process (pid, start_ns);

-- A mapped file, the kernel, a module, a JIT's memory. Row 0: none; offsets in it are plain addresses.
CREATE TABLE object (
	id INTEGER PRIMARY KEY,
	kind INTEGER NOT NULL,       -- 0 file, 1 kernel, 2 module, 3 vdso, 4 anonymous memory
	path TEXT NOT NULL,          -- as mapped; of a module its name in brackets
	build_id BLOB NOT NULL,      -- empty where it is not known
	major INTEGER NOT NULL,
	minor INTEGER NOT NULL,
	inode INTEGER NOT NULL,
	base INTEGER NOT NULL,       -- kernel and modules: the address of offset 0
	seen INTEGER NOT NULL
) STRICT;
CREATE INDEX object_by_path ON object (path, build_id);

CREATE TABLE function (
	id INTEGER PRIMARY KEY,
	object INTEGER NOT NULL REFERENCES object,
	start INTEGER NOT NULL,      -- offset of its first byte
	size INTEGER NOT NULL,
	name TEXT NOT NULL,          -- demangled
	fingerprint INTEGER NOT NULL, -- of its machine code; 0: not taken
	seen INTEGER NOT NULL
) STRICT;
CREATE INDEX function_by_start ON function (object, start);

-- The machine code of hot functions, for when their files are gone. It goes with its function.
CREATE TABLE code (
	function INTEGER PRIMARY KEY REFERENCES function,
	machine INTEGER NOT NULL,    -- EM_* of elf.h: 62 x86-64, 183 aarch64
	bytes BLOB NOT NULL
) STRICT;

-- A place in an object, and the innermost function it lies in (0: none that is known).
CREATE TABLE place (
	id INTEGER PRIMARY KEY,
	object INTEGER NOT NULL REFERENCES object,
	offset INTEGER NOT NULL,     -- in a file: the file offset
	function INTEGER NOT NULL REFERENCES function,
	seen INTEGER NOT NULL
) STRICT;
CREATE INDEX place_by_offset ON place (object, offset, function);

-- A call stack that something was called from: the frame at "place", called by the stack "parent"; 0
-- is below the outermost frame. A place is the last byte of a call instruction.
CREATE TABLE stack (
	id INTEGER PRIMARY KEY,
	parent INTEGER NOT NULL REFERENCES stack, -- < id
	place INTEGER NOT NULL REFERENCES place,
	seen INTEGER NOT NULL
) STRICT;
CREATE INDEX stack_by_parent ON stack (parent, place);

-- A stream, the path of branches that led to a sample: before those of the stream "parent" (0: none)
-- came the branch from "origin" to "target".
CREATE TABLE stream (
	id INTEGER PRIMARY KEY,
	parent INTEGER NOT NULL REFERENCES stream, -- < id
	origin INTEGER NOT NULL REFERENCES place,
	target INTEGER NOT NULL REFERENCES place,
	seen INTEGER NOT NULL
) STRICT;
CREATE INDEX stream_by_parent ON stream (parent, origin, target);

-- The causes by which samples, rows and runs were counted or set aside.
CREATE TABLE counter (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	meaning TEXT NOT NULL
) STRICT;

-- Windows and their counts ----------------------------------------------------------------------------

CREATE TABLE window (
	id INTEGER PRIMARY KEY,
	start_us INTEGER NOT NULL,   -- microseconds since 1970, UTC
	length_us INTEGER NOT NULL,
	samples INTEGER NOT NULL,
	lost INTEGER NOT NULL,       -- samples that are not in it
	mode TEXT NOT NULL,
	source INTEGER NOT NULL REFERENCES source,
	first_ns INTEGER NOT NULL,   -- of the first and the last sample, by the clock of samples
	last_ns INTEGER NOT NULL,
	horizon INTEGER NOT NULL     -- see "seen" above; it never falls
) STRICT;
CREATE INDEX window_by_start ON window (start_us, length_us);

CREATE TABLE counter_count (
	window INTEGER NOT NULL REFERENCES window,
	counter INTEGER NOT NULL REFERENCES counter,
	value INTEGER NOT NULL,      -- those that are 0 are left out
	PRIMARY KEY (window, counter)
) STRICT, WITHOUT ROWID;

CREATE TABLE process_count (
	window INTEGER NOT NULL REFERENCES window,
	process INTEGER NOT NULL REFERENCES process,
	samples INTEGER NOT NULL,
	PRIMARY KEY (window, process)
) STRICT, WITHOUT ROWID;

-- The samples taken at a place, called by a stack. Of what calls there is little, and the same in
-- each window: the leaf is not made a stack of its own.
CREATE TABLE stack_count (
	window INTEGER NOT NULL REFERENCES window,
	process INTEGER NOT NULL REFERENCES process,
	caller INTEGER NOT NULL REFERENCES stack, -- 0: none
	place INTEGER NOT NULL REFERENCES place,
	samples INTEGER NOT NULL,
	stitched INTEGER NOT NULL,   -- their frames that are from earlier samples, summed
	weight INTEGER NOT NULL,     -- the sum of their periods
	pruned INTEGER NOT NULL,     -- of the samples, those of light stacks, with callers left out
	PRIMARY KEY (window, process, caller, place)
) STRICT, WITHOUT ROWID;

-- The samples that exactly this stream led to, not one that goes further back.
CREATE TABLE stream_count (
	window INTEGER NOT NULL REFERENCES window,
	process INTEGER NOT NULL REFERENCES process,
	stream INTEGER NOT NULL REFERENCES stream,
	hits INTEGER NOT NULL,
	pruned INTEGER NOT NULL,     -- of these, those of streams too light to be kept, that go on
	cycles INTEGER NOT NULL,     -- of its last branch, also on the way of those that go further back
	PRIMARY KEY (window, process, stream)
) STRICT, WITHOUT ROWID;

CREATE TABLE branch_count (
	window INTEGER NOT NULL REFERENCES window,
	process INTEGER NOT NULL REFERENCES process,
	origin INTEGER NOT NULL REFERENCES place, -- the branch instruction
	target INTEGER NOT NULL REFERENCES place,
	taken INTEGER NOT NULL,
	mispredicted INTEGER NOT NULL, -- of these, and the next: not all hardware says either
	predicted INTEGER NOT NULL,
	aborted INTEGER NOT NULL,
	cycles INTEGER NOT NULL,     -- since the branch before, summed over the rows that had them:
	cycles_rows INTEGER NOT NULL,
	kind INTEGER NOT NULL,       -- as the hardware told: 0 not, 1 conditional, 2 jump, 3 indirect jump,
				     -- 4 call, 5 indirect call, 6 return; more in PERF_BR_* of the kernel
	PRIMARY KEY (window, process, origin, target)
) STRICT, WITHOUT ROWID;

-- Straight runs of code, both ends inclusive: the last is a branch instruction.
CREATE TABLE block_count (
	window INTEGER NOT NULL REFERENCES window,
	process INTEGER NOT NULL REFERENCES process,
	first INTEGER NOT NULL REFERENCES place,
	last INTEGER NOT NULL REFERENCES place,
	runs INTEGER NOT NULL,
	cycles INTEGER NOT NULL,
	cycles_rows INTEGER NOT NULL,
	PRIMARY KEY (window, process, first, last)
) STRICT, WITHOUT ROWID;

-- Functions of the window that no place leads to: all their places lie in functions inside them.
CREATE TABLE outer_function (
	window INTEGER NOT NULL REFERENCES window,
	function INTEGER NOT NULL REFERENCES function,
	PRIMARY KEY (window, function)
) STRICT, WITHOUT ROWID;

-- What is above of each function, in few bytes, so that hours are compared in no time: of all processes together, and
-- then of each process, in the order of their ids. All are numbers of 7 bits a byte, lowest first, with the eighth
-- bit set in all bytes but a number's last (LEB128).
--
-- Of a process: its id, less that of the one before; samples; their weight; branches taken; their cycles; runs of
-- blocks; hits of streams. Then, and at the beginning for all processes: how many bytes of functions follow.
--
-- Of a function: twice its id, less twice that of the one before, and one more if the last four are there;
-- samples in it; samples with it in their stack; [calls: branches to its first byte from elsewhere; runs of blocks that
-- start in it; of how many of these cycles are known; these cycles]. Where the id is 0 it is what of an object is in no
-- function, and before the samples comes that object's id.
CREATE TABLE function_counts (
	window INTEGER PRIMARY KEY REFERENCES window,
	counts BLOB NOT NULL
) STRICT;

-- The rows 0, never removed.
INSERT INTO string VALUES (0, '', 0x7fffffffffffffff);
INSERT INTO process VALUES (0, -1, 0, 0, 0, 0, NULL, 0x7fffffffffffffff);
INSERT INTO object VALUES (0, 0, '', x'', 0, 0, 0, 0, 0x7fffffffffffffff);
INSERT INTO function VALUES (0, 0, 0, 0, '', 0, 0x7fffffffffffffff);
INSERT INTO place VALUES (0, 0, 0, 0, 0x7fffffffffffffff);
INSERT INTO stack VALUES (0, 0, 0, 0x7fffffffffffffff);
INSERT INTO stream VALUES (0, 0, 0, 0, 0x7fffffffffffffff);
