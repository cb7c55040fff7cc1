/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What client and parser say to each other. Each request has one answer of the same type, except
 * that PARSER_LIFELINE, PARSER_CLOSE and PARSER_REST have none. PARSER_LIFELINE comes first: the
 * parser is killed when the writing end of the pipe is closed. It greets once its sandbox is in
 * place. Before it kills itself it may send PARSER_LAST_WORDS.
 *
 * A message is a sequence of parts, each at a multiple of 8 bytes. An answer begins with a struct
 * message_answer; the parts below follow if its result is 0.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/object/instruction.h"
#include "common/profile/profile.h"
#include "common/unwind/table.h"
#include "common/util/macro.h"

#define MESSAGE_MAX          (64u << 20)
#define MESSAGE_NO_TEXT      UINT32_MAX
#define MESSAGE_OFFSETS      (128u << 10) /* in one request */
#define MESSAGE_TEXT         (32u << 20)  /* of names and lines in one answer */
#define MESSAGE_NAME         8192         /* bytes of the name of a function */
#define MESSAGE_FRAMES       (1u << 20)   /* in one answer */
#define MESSAGE_INSTRUCTIONS (512u << 10) /* in one answer */
#define MESSAGE_CODE         (32u << 20)  /* bytes of code in one message */
#define MESSAGE_UNWIND       (4u << 20)   /* rows of an unwind table */
#define MESSAGE_LOADS        4096
#define MESSAGE_LINK         4096 /* bytes of the name of a debug file */

enum message_type {
	PARSER_LIFELINE = 1, /* fd: the reading end of a pipe */
	PARSER_HELLO,
	PARSER_OPEN,        /* message_open, fd -> message_identity, loads, debuglink */
	PARSER_ADD_DEBUG,   /* message_debug, fd -> */
	PARSER_CLOSE,       /* message_file */
	PARSER_RESOLVE,     /* message_resolve, offsets -> message_table, ranges, text */
	PARSER_LINES,       /* message_lines, offsets -> message_rows, starts, frames, text */
	PARSER_CODE,        /* message_code -> bytes */
	PARSER_DISASSEMBLE, /* message_disassemble, pieces, bytes -> message_rows, ... */
	PARSER_DEMANGLE,    /* message_names, text -> text */
	PARSER_UNWIND,      /* message_unwind -> message_unwind_table, rules, parts, bytes */
	PARSER_DATA,        /* message_data, addresses -> message_rows, data, text */
	PARSER_REST,        /* message_rest: nothing is asked for a while */
	PARSER_LAST_WORDS,  /* an enum message_reason */
};

/* Why a parser kills itself. */
enum message_reason {
	REASON_CPU = 1, /* the CPU budget is used up */
	REASON_HANG,    /* the request took too long by the clock */
	REASON_CRASH,   /* a memory error */
	REASON_SHRUNK,  /* a file became shorter while it was read */
};

struct message_answer {
	int32_t result; /* 0 or a negative errno */
	uint32_t unused;
};

struct message_file {
	uint32_t file; /* a number that the client chose */
	uint32_t unused;
};

enum message_content {
	CONTENT_ELF,
	CONTENT_JIT, /* functions that a JIT compiler has named, as in /tmp/perf-PID.map */
};

struct message_open {
	uint32_t file;
	uint32_t content;
	uint64_t cpu_us; /* budget of the file */
};

struct message_identity {
	uint16_t machine;
	uint8_t n_build_id;
	uint8_t has_symtab, has_dwarf;
	uint8_t build_id[PROFILE_BUILD_ID_MAX];
	uint32_t debuglink_crc;
	uint32_t n_loads;
	uint32_t n_debuglink; /* with its zero byte; 0: none */
	uint64_t n_malformed; /* lines that name no function */
};

struct message_load {
	uint64_t offset, address, size, memory_size;
	uint32_t executable;
	uint32_t unused;
};

struct message_debug {
	uint32_t file;
	uint32_t linked;
};

struct message_rest {
	uint64_t cpu_us; /* budget of each file from now on; 0: as before */
};

struct message_resolve {
	uint32_t file;
	uint32_t n;
	uint64_t max_code_bytes;
};

struct message_range {
	uint64_t first, last, start, size, fingerprint;
	uint32_t name; /* an offset into the text */
	uint32_t fingerprinted;
};

struct message_table {
	uint64_t n_code_bytes; /* read for fingerprints */
	uint64_t n_bytes;      /* of memory that the symbols take */
	uint32_t n_ranges;
	uint32_t n_text; /* the last byte of a text is zero */
};

struct message_lines {
	uint32_t file;
	uint32_t n;
	uint32_t max_frames;
	uint32_t unused;
};

struct message_frame {
	uint32_t function, file, line;
};

/*
 * Of lines or instructions: starts has one more element than there are places or pieces. Of data.
 */
struct message_rows {
	uint32_t n_rows;
	uint32_t n_text;
};

struct message_code {
	uint32_t file;
	uint32_t n;
	uint64_t offset;
};

struct message_disassemble {
	uint16_t machine;
	uint16_t att; /* 1: texts as AT&T writes them; 0: Intel's */
	uint32_t n_pieces;
	uint64_t cpu_us;
	uint64_t low, high;
};

struct message_piece {
	uint64_t address;
	uint32_t n;
	uint32_t max;
};

struct message_instruction {
	uint64_t target;
	uint32_t text;
	uint8_t size, kind;
	uint8_t has_target, is_data;
	uint8_t fixed[INSTRUCTION_MAX];
};

struct message_unwind {
	uint32_t file;
	uint32_t unused;
	uint64_t cpu_us; /* besides the budget of the file */
};

struct message_unwind_table {
	uint16_t machine;
	uint16_t unused;
	uint32_t n_rules; /* struct unwind_rule */
	uint32_t n_rows;  /* 0: the file has none */
	uint32_t n_bytes; /* of packed rows */
};

struct message_data {
	uint32_t file;
	uint32_t n;
};

struct message_datum {
	uint64_t offset;
	uint32_t name;
	uint32_t is_slot;
};

struct message_names {
	uint32_t n;
	uint32_t n_text;
	uint64_t cpu_us;
};

/* Writes a message. An error sticks: the first one is the result of all. */
struct message_writer {
	uint8_t *bytes;
	size_t n, cap;
	int r; /* 0; -ENOMEM; -EMSGSIZE */
};

void message_writer_done(struct message_writer *writer);

/* Adds a part of @n bytes. */
void message_write(struct message_writer *writer, const void *part, size_t n);

/* Adds a part of zeroes, to be filled in later: its offset in the bytes. */
size_t message_reserve(struct message_writer *writer, size_t n);

/* Strings for the end of a message. */
struct message_text {
	char *text;
	size_t n, cap;
};

/*
 * Adds a string, and *@ret is its offset; MESSAGE_NO_TEXT for NULL. A long one is truncated where
 * there is little room left. 0 or -ENOMEM.
 */
int message_text_add(struct message_text *text, const char *string, uint32_t *ret);

struct message_reader {
	const uint8_t *bytes;
	size_t n;
};

/* The next part of @n elements of @size bytes, or NULL if the message is too short. */
const void *message_read(struct message_reader *reader, size_t n, size_t size);
