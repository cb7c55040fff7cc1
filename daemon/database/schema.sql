-- SPDX-License-Identifier: LGPL-2.1-or-later
--
-- The database of branchd: windows of counts, and what they count.
--
-- Anyone who may read the file may query it while the daemon writes:
--
--     sqlite3 -readonly /var/lib/branchd/branchd.db 'SELECT * FROM window_summary'
--
-- While the daemon does not run, users who may not write beside the file give the path as
-- file:/var/lib/branchd/branchd.db?immutable=1.
--
-- Start with the views (views.sql). Leave writing to the daemon, and do not keep a transaction open for
-- long: until it ends, new windows cannot leave the write-ahead log.
--
-- There are two kinds of tables. Names, from strings to whole call stacks, are kept once and have an
-- "id", from 1; id 0 stands for none. A window is rows of such ids with counts. A row takes about 25 bytes.
--
-- Numbers are unsigned 64-bit numbers in SQLite's signed ones: from 2^63 on they read as negative.
-- printf('0x%x', n) and printf('%u', n) show them as they are. Text is any bytes, as the system had them.
--
-- REFERENCES say what refers to what. They are not enforced while writing, which would cost more than
-- the writing itself, but PRAGMA foreign_key_check finds nothing wrong.
--
-- "seen" says when a row was last in use. Each row that window W refers to, directly or through other
-- rows, has seen >= the horizon of W; and no row has a larger "seen" than a row it refers to. "seen" is
-- updated only after the horizon, which lags behind, has passed it. So a window like the one before
-- changes next to nothing; and once the oldest window is removed, rows with seen < the horizon of the
-- oldest window left are not in use any more.

PRAGMA application_id = 0x62726e64; -- "brnd"
PRAGMA user_version = 9; -- other tables, or columns of another meaning, have another version

-- What windows refer to -------------------------------------------------------------------------------

CREATE TABLE string (
	id INTEGER PRIMARY KEY,
	text TEXT NOT NULL,          -- id 0, unknown, differs from an empty string
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
	depth INTEGER NOT NULL, -- branch records that the hardware keeps
	seen INTEGER NOT NULL
) STRICT;

-- A process between two execs or changes of its name. Id 0: samples without a process. In windows that were merged
-- with age, the processes that have gone since are one of pid -1 for each name, executable, unit and user.
CREATE TABLE process (
	id INTEGER PRIMARY KEY,
	pid INTEGER NOT NULL,        -- -1: none, or processes that have gone
	start_ns INTEGER NOT NULL,   -- on the clock of samples; 0: before sampling began
	comm INTEGER NOT NULL REFERENCES string,
	executable INTEGER NOT NULL REFERENCES string,
	unit INTEGER NOT NULL REFERENCES string, -- the systemd unit
	uid INTEGER,                 -- the effective user; NULL: unknown
	seen INTEGER NOT NULL,
	restricted INTEGER NOT NULL DEFAULT 1 -- 1: its user may not look into it, or that is not known
) STRICT;
CREATE INDEX process_by_pid ON process (pid, start_ns, comm);

-- A mapped file, the kernel, a module, memory of a JIT. Id 0: none; offsets in it are plain addresses.
CREATE TABLE object (
	id INTEGER PRIMARY KEY,
	kind INTEGER NOT NULL,       -- 0 file, 1 kernel, 2 module, 3 vdso, 4 anonymous memory
	path TEXT NOT NULL,          -- as mapped; a module's name in brackets
	build_id BLOB NOT NULL,      -- empty: unknown
	major INTEGER NOT NULL,
	minor INTEGER NOT NULL,
	inode INTEGER NOT NULL,
	base INTEGER NOT NULL,       -- kernel and modules: the address of offset 0
	seen INTEGER NOT NULL,
	untrusted INTEGER NOT NULL DEFAULT 0, -- 1: others than root may write it, and choose its build-id
	ctime_ns INTEGER NOT NULL DEFAULT 0 -- of an untrusted one: its last change; 0: unknown
) STRICT;
CREATE INDEX object_by_path ON object (path, build_id);

CREATE TABLE function (
	id INTEGER PRIMARY KEY,
	object INTEGER NOT NULL REFERENCES object,
	start INTEGER NOT NULL,      -- offset of its first byte
	size INTEGER NOT NULL,
	name TEXT NOT NULL,          -- demangled
	fingerprint INTEGER NOT NULL, -- of its machine code; 0: none
	seen INTEGER NOT NULL
) STRICT;
CREATE INDEX function_by_start ON function (object, start);

-- The machine code of hot functions, for the time when their files are gone. It is removed with its
-- function.
CREATE TABLE code (
	function INTEGER PRIMARY KEY REFERENCES function,
	machine INTEGER NOT NULL,    -- EM_* of elf.h: 62 x86-64, 183 aarch64
	bytes BLOB NOT NULL
) STRICT;

-- A location in an object, and the innermost function around it (0: none is known). Id 0: the address 0, where the
-- samples of pruned stacks are counted of which no frame is left, and the frame between a function and callers that
-- stand for its own (CaptureShare=).
CREATE TABLE place (
	id INTEGER PRIMARY KEY,
	object INTEGER NOT NULL REFERENCES object,
	offset INTEGER NOT NULL,     -- in a file: the file offset
	function INTEGER NOT NULL REFERENCES function,
	seen INTEGER NOT NULL
) STRICT;
CREATE INDEX place_by_offset ON place (object, offset, function);

-- A call stack above a leaf: the frame at "place", called by the stack "parent" (0: "place" is the
-- outermost frame). The place is the last byte of a call instruction.
CREATE TABLE stack (
	id INTEGER PRIMARY KEY,
	parent INTEGER NOT NULL REFERENCES stack, -- < id
	place INTEGER NOT NULL REFERENCES place,
	seen INTEGER NOT NULL
) STRICT;
CREATE INDEX stack_by_parent ON stack (parent, place);

-- A stream, the path of branches that led to a sample: the branch from "origin" to "target", taken
-- before the branches of the stream "parent" (0: it is the newest branch).
CREATE TABLE stream (
	id INTEGER PRIMARY KEY,
	parent INTEGER NOT NULL REFERENCES stream, -- < id
	origin INTEGER NOT NULL REFERENCES place,
	target INTEGER NOT NULL REFERENCES place,
	seen INTEGER NOT NULL
) STRICT;
CREATE INDEX stream_by_parent ON stream (parent, origin, target);

-- What samples, branch records and runs were counted as, or why they were skipped.
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
	lost INTEGER NOT NULL,       -- samples missing in it
	mode TEXT NOT NULL,
	source INTEGER NOT NULL REFERENCES source,
	first_ns INTEGER NOT NULL,   -- of the first and the last sample, on their clock
	last_ns INTEGER NOT NULL,
	horizon INTEGER NOT NULL,    -- see "seen" above; it never falls
	newest INTEGER NOT NULL DEFAULT 0 -- it may refer to rows added with windows up to this one; 0: with itself
) STRICT;
CREATE INDEX window_by_start ON window (start_us, length_us);

CREATE TABLE counter_count (
	window INTEGER NOT NULL REFERENCES window,
	counter INTEGER NOT NULL REFERENCES counter,
	value INTEGER NOT NULL,      -- never 0
	PRIMARY KEY (window, counter)
) STRICT, WITHOUT ROWID;

CREATE TABLE process_count (
	window INTEGER NOT NULL REFERENCES window,
	process INTEGER NOT NULL REFERENCES process,
	samples INTEGER NOT NULL,
	gone INTEGER NOT NULL DEFAULT 0, -- how many processes that have gone are counted together here, at most; 0: it is one
	PRIMARY KEY (window, process)
) STRICT, WITHOUT ROWID;

-- The samples taken at a place, called by a stack. Callers are few and the same in each window, leaves
-- are many: so a leaf has no row in the table stack.
CREATE TABLE stack_count (
	window INTEGER NOT NULL REFERENCES window,
	process INTEGER NOT NULL REFERENCES process,
	caller INTEGER NOT NULL REFERENCES stack, -- 0: none
	place INTEGER NOT NULL REFERENCES place,
	samples INTEGER NOT NULL,
	stitched INTEGER NOT NULL,   -- frames stitched from earlier samples, summed over the samples
	weight INTEGER NOT NULL,     -- the sum of their periods
	pruned INTEGER NOT NULL,     -- of the samples, those of rare stacks, without some callers
	PRIMARY KEY (window, process, caller, place)
) STRICT, WITHOUT ROWID;

-- Windows of busy machines keep the heaviest streams, branches and blocks. What the rare ones of a process and an object
-- counted is one row, at no place that code can have: of streams and branches, an origin at offset 0 of the object and the
-- target of id 0; of blocks, one that ends at offset 0 and begins at offset 1.

-- The samples of exactly this stream, without those of streams that go further back.
CREATE TABLE stream_count (
	window INTEGER NOT NULL REFERENCES window,
	process INTEGER NOT NULL REFERENCES process,
	stream INTEGER NOT NULL REFERENCES stream,
	hits INTEGER NOT NULL,
	pruned INTEGER NOT NULL,     -- hits of rare streams that went further back
	cycles INTEGER NOT NULL,     -- of its oldest branch, summed over this stream and those that go further back
	PRIMARY KEY (window, process, stream)
) STRICT, WITHOUT ROWID;

CREATE TABLE branch_count (
	window INTEGER NOT NULL REFERENCES window,
	process INTEGER NOT NULL REFERENCES process,
	origin INTEGER NOT NULL REFERENCES place, -- the branch instruction
	target INTEGER NOT NULL REFERENCES place,
	taken INTEGER NOT NULL,
	mispredicted INTEGER NOT NULL, -- of those taken; not all hardware reports this or the next
	predicted INTEGER NOT NULL,
	aborted INTEGER NOT NULL,
	cycles INTEGER NOT NULL,     -- since the branch before, summed over the records with cycles:
	cycles_rows INTEGER NOT NULL,
	kind INTEGER NOT NULL,       -- from the hardware: 0 unknown, 1 conditional, 2 jump, 3 indirect jump,
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

-- Functions of the window that no place refers to: all their places lie in functions inside them.
CREATE TABLE outer_function (
	window INTEGER NOT NULL REFERENCES window,
	function INTEGER NOT NULL REFERENCES function,
	PRIMARY KEY (window, function)
) STRICT, WITHOUT ROWID;

-- The counts of the tables above by function, in few bytes, so that hours are compared at once. All are LEB128 numbers:
-- 7 bits a byte, lowest first, with the eighth bit set in all bytes of a number but the last.
--
-- "counts" begins with the functions over all processes. Then come the processes in the order of their ids, each with its
-- id minus the id before, and samples. "processes" is a frame of zstd; unpacked it has for each of them: the weight of the samples; branches
-- taken; their cycles; runs of blocks; hits of streams; functions. Before functions comes their number of bytes.
--
-- In windows of version 7 and before "processes" is NULL, and what belongs there follows in "counts" upon the samples of
-- each process.
--
-- A function: twice the difference to the id before, plus 1 if the last four numbers follow; samples in it; samples
-- with it in their stack; where "variances" is 1, the variance that CaptureShare= adds to the latter number (samples
-- in the function itself add none); [calls: branches to its first byte from elsewhere; runs of blocks that start in it; the
-- number of those runs with cycles; the sum of their cycles]. Id 0 stands for the parts of an object outside of functions: the
-- object's id comes before the samples.
CREATE TABLE function_counts (
	window INTEGER PRIMARY KEY REFERENCES window,
	counts BLOB NOT NULL,
	processes BLOB,
	variances INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The same by object: samples in each object, and samples with it in their stack. The form is that of function_counts with
-- functions of id 0 alone, and the numbers of a process are 0. Windows of version 6 and before have no row here.
CREATE TABLE object_counts (
	window INTEGER PRIMARY KEY REFERENCES window,
	counts BLOB NOT NULL,
	processes BLOB,
	variances INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What CaptureShare= adds to the variances of the rows of a window, where it does: of those in stack_count ("counted" is 0),
-- stream_count (1), branch_count (2) or block_count (3), in the order of their keys, numbers as in function_counts. Of
-- the samples of a stack, the hits of a stream, the branches taken and the runs of a block.
CREATE TABLE variance (
	window INTEGER NOT NULL REFERENCES window,
	counted INTEGER NOT NULL,
	variances BLOB NOT NULL,
	PRIMARY KEY (window, counted)
) STRICT, WITHOUT ROWID;

-- What each user has in a window, so that who has more than a fair share loses rows of their own first when the
-- database is full: the rows of their processes, with the callers of stacks and the newer branches of streams.
CREATE TABLE user_rows (
	window INTEGER NOT NULL REFERENCES window,
	uid INTEGER NOT NULL,        -- -1: unknown, or no process
	rows INTEGER NOT NULL,
	PRIMARY KEY (window, uid)
) STRICT, WITHOUT ROWID;

-- The largest ids before the window was written, or before a sum added rows while it was the newest, if these are less.
-- As the largest rows may go, and their ids come again, rows added with this window or later have larger ids than the
-- least one here, of this window and all later ones. A window that goes leaves its own to the window before it, where
-- they are less.
CREATE TABLE window_first (
	window INTEGER PRIMARY KEY REFERENCES window,
	place INTEGER NOT NULL,
	stack INTEGER NOT NULL,
	stream INTEGER NOT NULL,
	process INTEGER NOT NULL DEFAULT 9223372036854775807,
	string INTEGER NOT NULL DEFAULT 9223372036854775807,
	object INTEGER NOT NULL DEFAULT 9223372036854775807,
	function INTEGER NOT NULL DEFAULT 9223372036854775807
) STRICT;

-- Names that users gave to windows: to all from "first" to "last". As long as it is here, these are neither merged nor
-- removed.
CREATE TABLE mark (
	name TEXT PRIMARY KEY,
	first INTEGER NOT NULL REFERENCES window,
	last INTEGER NOT NULL REFERENCES window,
	made_us INTEGER NOT NULL,    -- microseconds since 1970, UTC
	uid INTEGER NOT NULL         -- of the user who made it
) STRICT, WITHOUT ROWID;

-- The rows of id 0 are never removed.
INSERT INTO string VALUES (0, '', 0x7fffffffffffffff);
INSERT INTO process VALUES (0, -1, 0, 0, 0, 0, NULL, 0x7fffffffffffffff, 1);
INSERT INTO object VALUES (0, 0, '', x'', 0, 0, 0, 0, 0x7fffffffffffffff, 0, 0);
INSERT INTO function VALUES (0, 0, 0, 0, '', 0, 0x7fffffffffffffff);
INSERT INTO place VALUES (0, 0, 0, 0, 0x7fffffffffffffff);
INSERT INTO stack VALUES (0, 0, 0, 0x7fffffffffffffff);
INSERT INTO stream VALUES (0, 0, 0, 0, 0x7fffffffffffffff);
