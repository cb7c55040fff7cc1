/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The client of the parser process, which reads strangers' ELF files, DWARF and machine code.
 *
 * A file is opened once and asked as often as needed. Files of one owner share a connection, and so
 * a parser process: a file can deceive or kill the parser of its own owner's files only. What a
 * parser answers is checked for shape, so a parser under foreign control can lie about the files of
 * that owner, and nothing else.
 *
 * A parser that dies, answers wrongly or takes too long is closed. The file it worked on has failed
 * from then on, with a reason. The others are opened again in a new process when they are needed.
 *
 * Errors of all calls on a file: -EREMOTEIO and @why if its parser failed, now or earlier;
 * -ECONNREFUSED and @why if no parser can be reached, which may be tried again; -ENOMEM. None of
 * the results is touched then.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/parser/connections.h"
#include "common/parser/results.h"
#include "common/unwind/table.h"
#include "common/util/fault.h"
#include "common/util/macro.h"

struct parser;
struct parser_file;

struct parser_settings {
	/* Connects to a new parser process for files of @owner: a stream socket, or -errno. */
	int (*connect)(uint32_t owner, void *userdata);
	void *userdata;
	uint64_t timeout_us; /* of one call; 0: 20 s */
	uint64_t cpu_us;     /* that one file may take in all; 0: 5 s */
	uint64_t rest_us;    /* without a question, until memory is given back; 0: 2 s */
	uint64_t idle_us;    /* without a question, until a process ends; 0: 90 s */
};

int parser_new(struct parser **ret, const struct parser_settings *settings);
/* All files of it are freed before. */
struct parser *parser_free(struct parser *parser);
DEFINE_CLEANUP(struct parser *, parser_free);

/* Begins to start a process for files of @owner, for a caller who will soon have some. */
void parser_prepare(struct parser *parser, uint32_t owner);

/*
 * Nothing is asked for a while: processes give back the memory that they do not need, and files
 * have their whole budgets again. What was read stays, because starting a process and reading
 * symbols again costs more than all that a steady load asks for. But no process grows old.
 */
void parser_rest(struct parser *parser);

/*
 * Processes that were asked nothing for a while give back memory; their files' budgets stay. Those
 * that were idle for long end. The milliseconds until it is to be called again, or -1.
 */
int parser_tend(struct parser *parser);

/* Closes all connections. What is asked later begins new ones. */
void parser_close_all(struct parser *parser);

/* How many parsers were started, and closed for each reason: connections.h. */
const struct parser_counters *parser_get_counters(const struct parser *parser);

/*
 * Opens an executable or shared library. Takes @fd in any case; a regular file is the caller's
 * task. @owner: the uid that owns the file. 0; -ENOEXEC and @why if it is no such file or damaged;
 * or as above.
 */
int parser_open(struct parser *parser, int fd, uint32_t owner, struct parser_file **ret,
		struct fault *why);

/*
 * The same for a file with functions that a JIT compiler has named, as in /tmp/perf-PID.map; what
 * is no such line in it is skipped. Of such a file there are symbols and nothing else.
 */
int parser_open_jit(struct parser *parser, int fd, uint32_t owner, struct parser_file **ret,
		    struct fault *why);

struct parser_file *parser_file_free(struct parser_file *file);
DEFINE_CLEANUP(struct parser_file *, parser_file_free);

/* Borrowed from @file; valid also after its parser failed. */
const struct parser_identity *parser_file_identity(const struct parser_file *file);

/* The descriptor, borrowed. */
int parser_file_fd(const struct parser_file *file);

/* The uid it was opened for. */
uint32_t parser_file_owner(const struct parser_file *file);

/* Why its parser failed, or NULL. */
const char *parser_file_failure(const struct parser_file *file);

/* The memory that its symbols take in the parser. */
size_t parser_file_bytes(const struct parser_file *file);

/*
 * Uses @debug_fd, which is taken in any case, as the separate debug file of @file, if it belongs to
 * it: the build-ids are the same, or @linked and the checksum is that of the debug link. To be
 * called before symbols and lines are asked for. 0; -ESTALE if it does not belong to it; or as
 * above.
 */
int parser_file_add_debug(struct parser_file *file, int debug_fd, bool linked, struct fault *why);

void parser_table_done(struct parser_table *table);

/*
 * The functions of @n offsets. Each offset is in one of the ranges at least; the ranges are in no
 * order, and some may overlap. Fingerprints are taken of functions until @max_code_bytes of code
 * were read; *@ret_code_bytes (unless NULL) is how many were.
 */
int parser_file_resolve(struct parser_file *file, const uint64_t *offsets, size_t n,
			size_t max_code_bytes, struct parser_table *ret, size_t *ret_code_bytes,
			struct fault *why);

void parser_lines_done(struct parser_lines *lines);

/*
 * The source lines of @n offsets: of each the inlined calls, innermost first, then the function
 * itself, at most @max_frames; none without debug information.
 */
int parser_file_lines(struct parser_file *file, const uint64_t *offsets, size_t n,
		      size_t max_frames, struct parser_lines *ret, struct fault *why);

void parser_data_done(struct parser_data *data);

/*
 * What is at @n addresses of the file, in the same order. At most MESSAGE_OFFSETS (message.h), or
 * -EMSGSIZE.
 */
int parser_file_data(struct parser_file *file, const uint64_t *addresses, size_t n,
		     struct parser_data *ret, struct fault *why);

/*
 * The unwind table of the file, for unwind_table_done(); without rows if the file has none. -ETIME
 * if reading it took too much CPU time: another try may succeed.
 */
int parser_file_unwind(struct parser_file *file, struct unwind_table *ret, struct fault *why);

/*
 * Reads the machine code at @offset: the number of bytes read, fewer than @n where the file ends.
 * At most 32 MiB.
 */
int parser_file_code(struct parser_file *file, uint64_t offset, void *ret, size_t n,
		     struct fault *why);

void parser_instructions_done(struct parser_instructions *instructions);

/*
 * Decodes @n pieces of code of @machine, which come from a file of @owner. Numbers of 32 bits and
 * more in [@low, @high) count as addresses and are zeroed in instruction.fixed. At most
 * MESSAGE_INSTRUCTIONS (message.h) are decoded; later pieces have none. 0; -EOPNOTSUPP for an
 * unknown machine; -EMSGSIZE for more than 32 MiB of code; or as above (-EREMOTEIO holds for this
 * call only).
 */
struct parser_decoding {
	uint32_t owner;
	uint16_t machine;
	bool att; /* texts of x86 as AT&T writes them */
	uint64_t low, high;
	const struct parser_piece *pieces;
	size_t n;
};

int parser_disassemble(struct parser *parser, const struct parser_decoding *decoding,
		       struct parser_instructions *ret, struct fault *why);

/*
 * Demangles @n names of the linker into *@ret, an array of @n strings that is one block of memory
 * for the caller to free. The names are of the kernel, or of root's files.
 */
int parser_demangle(struct parser *parser, const char *const *names, size_t n, char ***ret,
		    struct fault *why);
